"""Runs an exported schedule: the order of Gatherscope in the graphs that Inductor compiles.

A schedule belongs to one graph, known by its structural hash; any other graph is left as it is. A schedule of level "fx"
reorders the graph behind the post-grad passes (and makes the coalesced gathers that it asks for), and the scheduler's
units are put into the same order behind fusion; a schedule of level "scheduler" orders those units alone. `units.py`
says what keeps the order. Ranks vote before anything changes (`ranks.py`).
"""
from __future__ import annotations

import glob
import hashlib
import itertools
import json
import operator
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional, Union

import torch
import torch.fx

from . import units as unit_order
from .files import Fields, ScheduleError, read_json
from .graph_json import Json, graph_json, launches
from .hooks import Hooks, log
from .ranks import agree
from .scheduler_json import is_launch, scheduler_json
from .structural_hash import structural_hash

_installs = itertools.count()


@dataclass(frozen=True)
class Schedule:
    """An exported schedule (`gatherscope.schedule` version 1)."""

    path: str
    level: str
    source_hash: str
    after_hash: str
    order: list[str]
    positions: list[int]  # of each node of `order` in the captured graph; -1: made by a pass
    rewritten: dict[str, Json]  # calls of nodes that passes made or gave other arguments
    moves: list[Json] = field(default_factory=list)

    @staticmethod
    def read(path: str) -> "Schedule":
        data = Fields(path, read_json(path, "gatherscope.schedule"))
        hashes = Fields(path, data.get("structural_hash", dict), "structural_hash")
        calls, moves = data.objects("rewritten"), data.objects("moves")
        for call in calls:
            for key, kind in (("name", str), ("target", str), ("args", list), ("kwargs", dict)):
                call.get(key, kind)
        for move in moves:
            for key, kind in (("launch", str), ("from", int), ("to", int), ("verdict", str)):
                move.get(key, kind)
        schedule = Schedule(path, data.get("level", str), hashes.get("source", str), hashes.get("after", str),
                            data.items("order", str), data.items("positions", int),
                            {call.item["name"]: call.item for call in calls}, [move.item for move in moves])
        if len(schedule.rewritten) != len(calls):
            raise ScheduleError(f"{path}: rewritten has two calls of the same name")
        schedule.check()
        return schedule

    def check(self) -> None:
        """Raises if the file contradicts itself."""
        kept = [p for p in self.positions if p >= 0]
        if any(p < -1 for p in self.positions):
            raise ScheduleError(f"{self.path}: positions has a number below -1")
        if len(self.positions) != len(self.order) or len(set(kept)) != len(kept) or len(set(self.order)) != len(self.order):
            raise ScheduleError(f"{self.path}: the order is not an order of distinct nodes")
        made = {name for name, p in zip(self.order, self.positions) if p < 0}
        if made - set(self.rewritten):
            raise ScheduleError(f"{self.path}: the call of {sorted(made - set(self.rewritten))[0]} is missing")
        if strange := set(self.rewritten) - set(self.order):
            raise ScheduleError(f"{self.path}: rewritten names {sorted(strange)[0]}, which is not in the order")
        if self.level not in ("fx", "scheduler"):
            raise ScheduleError(f"{self.path}: the level \"{self.level}\" is not known")
        if self.level == "scheduler" and self.rewritten:
            raise ScheduleError(f"{self.path}: passes made new nodes; kernels cannot be made from a schedule. Capture the "
                                "fx level to apply buckets")
        for call in self.rewritten.values():
            target = _resolve(call["target"])
            if getattr(getattr(target, "_schema", None), "is_mutable", False):
                raise ScheduleError(f"{self.path}: {call['name']} writes into a shared buffer, at a place that depends on the "
                                    "rank; export with bucket_mode=coalesced instead")

    def digest(self) -> str:
        """Equal on ranks that would do the same. Texts among the arguments of new calls are group names, which may differ
        by rank, and reductions: only which of them are the same counts."""
        texts: dict[str, int] = {}

        def canonical(item: Any) -> Any:
            if isinstance(item, str):
                return ["text", texts.setdefault(item, len(texts))]
            return [canonical(child) for child in item] if isinstance(item, list) else item

        calls = [[name, self.rewritten[name]["target"], canonical(self.rewritten[name]["args"])]
                 for name in self.order if name in self.rewritten]
        return _digest([self.level, self.positions, calls])


@dataclass(frozen=True)
class Applied:
    """What became of one graph."""

    level: str
    graph_hash: str
    applied: bool
    reason: str = ""  # why not
    schedule: str = ""  # path
    moved: int = 0  # nodes that are behind others than before


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def load(paths: Union[str, Iterable[str]]) -> list[Schedule]:
    """Schedules from files and from the `*.json` of folders."""
    schedules = []
    for path in [paths] if isinstance(paths, str) else paths:
        files = sorted(glob.glob(os.path.join(path, "*.json"))) if os.path.isdir(path) else [path]
        schedules += [Schedule.read(file) for file in files]
    if not schedules:
        raise ScheduleError("no schedule was found")
    return schedules


def _check_config() -> None:
    """Inductor's own reordering of collectives would undo a schedule, and change the graph that it is for."""
    from torch._inductor import config
    on = [name for name in ("reorder_for_compute_comm_overlap",) if getattr(config, name, False)]
    on += [name for name in ("bucket_all_gathers_fx", "bucket_reduce_scatters_fx", "bucket_all_reduces_fx")
           if getattr(config, name, "none") not in ("none", None)]
    if getattr(getattr(config, "aten_distributed_optimizations", None), "enable_overlap_scheduling", False):
        on.append("aten_distributed_optimizations.enable_overlap_scheduling")
    if on:
        raise ScheduleError(f"turn off torch._inductor.config.{', '.join(on)}: it would reorder behind the schedule")


def _skeleton(nodes: Iterable[Json], groups: Json) -> list[Any]:
    """The collectives as ranks must agree on them: operators, sizes, scalars; groups by first appearance, because the
    same mesh dimension has another name on other ranks."""
    names: dict[str, int] = {}
    found = []
    for node in nodes:
        if "collective" in node["tags"]:
            scalars = [f"group {names.setdefault(arg, len(names))}" if arg in groups else arg
                       for arg in (*node["args"], *node["kwargs"].values()) if isinstance(arg, (str, int))]
            found.append([node["target"], scalars, _sizes(node["val"])])
    return found


def _sizes(value: Any) -> Any:
    """Shapes and dtypes of a value, symbols by hint."""
    if isinstance(value, list):
        return [_sizes(item) for item in value]
    if isinstance(value, dict) and "shape" in value:
        return [value["dtype"], [s.get("hint") if isinstance(s, dict) else s for s in value["shape"]]]
    return None


def _resolve(name: str) -> Any:
    if name == "operator.getitem":
        return operator.getitem
    parts = name.split(".")
    if len(parts) == 3 and parts[0] in ("_c10d_functional", "aten", "prims"):
        try:
            return getattr(getattr(getattr(torch.ops, parts[0]), parts[1]), parts[2])
        except AttributeError:
            pass
    raise ScheduleError(f"this torch cannot make a node of {name}")


def _argument(item: Any, node_of: dict[str, torch.fx.Node]) -> Any:
    """An argument of a schedule as fx has it."""
    if isinstance(item, list):
        return [_argument(child, node_of) for child in item]
    if not isinstance(item, dict):
        return item
    if "n" in item:
        if item["n"] not in node_of:
            raise ScheduleError(f"an argument names {item['n']}, which the graph does not have")
        return node_of[item["n"]]
    if "dtype" in item:
        return getattr(torch, item["dtype"])
    if "float" in item:
        return float(item["float"])
    if "device" in item:
        return torch.device(item["device"])
    raise ScheduleError(f"an argument {json.dumps(item)} cannot be made in torch")


class _FxPlan:
    """A schedule fitted to a graph. Until `commit` the graph runs as before; `drop` takes every trace away."""

    def __init__(self, schedule: Schedule, graph: torch.fx.Graph, document: Json) -> None:
        self.schedule, self.graph = schedule, graph
        self.before = list(graph.nodes)
        self.made: list[torch.fx.Node] = []
        self.calls: dict[torch.fx.Node, tuple[Any, Any]] = {}
        try:
            self._fit(document)
        except Exception:
            self.drop()
            raise

    def _fit(self, document: Json) -> None:
        schedule = self.schedule
        kept = {p for p in schedule.positions if p >= 0}
        if kept and max(kept) >= len(self.before):
            raise ScheduleError("the schedule names nodes behind the end of the graph")
        if not schedule.rewritten:
            ordered = {**document, "nodes": [document["nodes"][p] for p in schedule.positions]}
            if len(kept) != len(self.before) or structural_hash(ordered) != schedule.after_hash:
                raise ScheduleError("the order does not give the graph that the schedule names")
        node_of = {name: self.before[p] for name, p in zip(schedule.order, schedule.positions) if p >= 0}
        for name, p in zip(schedule.order, schedule.positions):
            if p < 0:
                node_of[name] = self._make(schedule.rewritten[name], node_of)
        for name, call in schedule.rewritten.items():
            if schedule.positions[schedule.order.index(name)] >= 0:
                self.calls[node_of[name]] = (tuple(_argument(call["args"], node_of)),
                                             {k: _argument(v, node_of) for k, v in call["kwargs"].items()})
        self.after = [node_of[name] for name in schedule.order]
        self._check()

    def _make(self, call: Json, node_of: dict[str, torch.fx.Node]) -> torch.fx.Node:
        target = _resolve(call["target"])
        args = tuple(_argument(call["args"], node_of))
        kwargs = {key: _argument(item, node_of) for key, item in call["kwargs"].items()}
        with self.graph.inserting_before(self.before[-1]):
            node = self.graph.call_function(target, args, kwargs)
        self.made.append(node)
        values = torch.fx.node.map_arg((args, kwargs), lambda n: n.meta["val"])
        fake_mode = torch._guards.detect_fake_mode(values)
        if fake_mode is None:
            raise ScheduleError(f"the inputs of {call['name']} have no values to make it from")
        with fake_mode:
            node.meta["val"] = target(*values[0], **values[1])
        first = next(iter(node.all_input_nodes), None)
        if first is not None:
            node.meta.update({k: v for k, v in first.meta.items() if k in ("partitioner_tag", "seq_nr", "nn_module_stack")})
        return node

    def _check(self) -> None:
        """All that `commit` needs, so that it cannot fail when the other ranks have begun: a well-formed graph, every node
        behind its arguments, what goes away used by nothing that stays, and the same inputs, output and writes."""
        self.graph.lint()
        staying = set(self.after)
        if gone := next((n for n in self.before if n not in staying
                         and getattr(getattr(n.target, "_schema", None), "is_mutable", False)), None):
            raise ScheduleError(f"{gone.name} would be gone, which writes into an argument")
        for op in ("placeholder", "output"):
            if [n for n in self.before if n.op == op] != [n for n in self.after if n.op == op]:
                raise ScheduleError(f"the {op}s would not be those of the graph")
        if self.after[-1].op != "output":
            raise ScheduleError("the output would not be the last node")
        seen: set[torch.fx.Node] = set()
        for node in self.after:
            inputs: list[torch.fx.Node] = []
            torch.fx.node.map_arg(self.calls.get(node, (node.args, node.kwargs)), inputs.append)
            if missing := next((n for n in inputs if n not in seen), None):
                raise ScheduleError(f"{node.name} would run before {missing.name}, which it needs")
            seen.add(node)

    def drop(self) -> None:
        for node in reversed(self.made):
            self.graph.erase_node(node)
        self.made = []

    def commit(self) -> int:
        """Changes the graph; gives the number of nodes that are not behind the same node as before."""
        for node, (args, kwargs) in self.calls.items():
            node.args, node.kwargs = args, kwargs
        previous = {b: a for a, b in zip(self.before, self.before[1:])}
        cursor = self.after[0]
        if self.before[0] is not cursor:
            self.before[0].prepend(cursor)
        for node in self.after[1:]:
            if cursor.next is not node:
                cursor.append(node)
            cursor = node
        staying = set(self.after)
        for node in reversed(self.before):
            if node not in staying:
                self.graph.erase_node(node)
        for position, node in enumerate(self.after):
            node.meta[unit_order.POSITION] = position
        return sum(previous.get(b) is not a for a, b in zip(self.after, self.after[1:]))


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class Bridge:
    """Schedules at work from construction to `close`; `results` says what became of each graph."""

    def __init__(self, schedules: Iterable[Schedule], timeout_s: float = 120.0) -> None:
        _check_config()
        self.results: list[Applied] = []
        self.collectives: list[list[str]] = []  # launches and waits of each scheduled graph in their final order
        self._timeout_s = timeout_s
        self._by_hash: dict[tuple[str, str], Schedule] = {}
        for schedule in schedules:
            other = self._by_hash.setdefault((schedule.level, schedule.source_hash), schedule)
            if other.digest() != schedule.digest():
                raise ScheduleError(f"{other.path} and {schedule.path} order the same graph differently")
        self._install = next(_installs)
        self._votes = {"fx": itertools.count(), "scheduler": itertools.count()}
        self._hooks: Optional[Hooks] = Hooks(self._fx, self._units)

    def _vote(self, level: str, refused: str, schedule: Optional[Schedule], skeleton: list[Any]) -> tuple[bool, str]:
        vote = {"order": schedule.digest() if schedule else "", "collectives": _digest(skeleton), "refused": refused}
        topic = f"{self._install}/{level}/{next(self._votes[level])}"
        decision = agree(topic, vote, self._timeout_s)
        return decision.agreed, decision.reason

    def _record(self, result: Applied) -> None:
        self.results.append(result)
        if result.applied:
            log.info("%s graph %s: applied %s, %d nodes moved", result.level, result.graph_hash, result.schedule, result.moved)
        else:
            log.warning("%s graph %s: left as it is: %s", result.level, result.graph_hash, result.reason)

    def _fx(self, graph: torch.fx.Graph) -> None:
        if not launches(graph):
            return
        # Nothing in front of the vote may raise, and nothing behind it: a rank that leaves between keeps the others waiting.
        found, schedule, refused, plan = "?", None, "", None
        skeleton: list[Any] = []
        try:
            document = graph_json(graph)
            skeleton = _skeleton(document["nodes"], document["groups"])
            found = structural_hash(document)
            schedule = self._by_hash.get(("fx", found))
            if schedule is None:
                refused = f"no schedule for the graph {found}"
            else:
                plan = _FxPlan(schedule, graph, document)
        except Exception as error:
            refused = f"{schedule.path if schedule else 'the graph cannot be read'}: {_reason(error)}"
        agreed, reason = self._vote("fx", refused, schedule, skeleton)
        if schedule is None and found != "?" and any(level == "scheduler" for level, _ in self._by_hash):
            return  # a schedule of the units may follow; nothing to say yet
        if not agreed or plan is None or schedule is None:
            if plan is not None:
                plan.drop()
            self._record(Applied("fx", found, False, reason or refused, schedule.path if schedule else ""))
            return
        for move in schedule.moves:
            log.debug("launch %s: %s → %s", move["launch"], move["from"], move["to"])
        self._record(Applied("fx", found, True, "", schedule.path, plan.commit()))

    def _units(self, units: list[Any]) -> list[Any]:
        try:
            order = unit_order.order_by_origins(units)
            if order is not None:
                units = self._reorder(units, order)
                if names := unit_order.displaced(units):
                    log.warning("%d launches and waits are not where the schedule has them, because fused kernels need them "
                                "elsewhere: %s", len(names), ", ".join(names[:8]))
                return units
        except Exception as error:  # the graph's own order holds: launches keep theirs by Inductor's own chain
            log.warning("the order of the scheduler could not be kept: %s", error, exc_info=True)
            return units
        return self._units_of_schedule(units)

    def _reorder(self, units: list[Any], order: list[int]) -> list[Any]:
        return self._commit(unit_order.tied(units, order))

    def _commit(self, tied: list[tuple[Any, Any]]) -> list[Any]:
        ordered = unit_order.commit(tied)
        self.collectives.append(unit_order.collectives(ordered))
        return ordered

    def _units_of_schedule(self, units: list[Any]) -> list[Any]:
        """Applies a schedule of level "scheduler", if there is one for these units."""
        found, schedule, refused = "?", None, ""
        skeleton: list[Any] = []
        order: list[int] = []
        tied: Optional[list[tuple[Any, Any]]] = None
        try:
            if not any(map(is_launch, units)):
                return units
            document = scheduler_json(units)
            found, skeleton = structural_hash(document), _skeleton(document["nodes"], document["groups"])
            schedule = self._by_hash.get(("scheduler", found))
            refused = "" if schedule else f"no schedule for the units {found}"
            if schedule:
                first = next(i for i, node in enumerate(document["nodes"]) if node["op"] == "call_function")
                order = [p - first for p in schedule.positions if first <= p < first + len(units)]
                if sorted(order) != list(range(len(units))):
                    raise ScheduleError(f"{schedule.path}: not an order of these units")
                if broken := unit_order.broken_edge(units, order):
                    raise ScheduleError(f"{schedule.path}: {broken[1]} would run before {broken[0]}, which it needs")
                tied = unit_order.tied(units, order)
        except Exception as error:
            refused = _reason(error)
        agreed, reason = self._vote("scheduler", refused, schedule, skeleton)
        if not any(level == "scheduler" for level, _ in self._by_hash):
            return units
        if not agreed or tied is None or schedule is None:
            self._record(Applied("scheduler", found, False, reason or refused, schedule.path if schedule else ""))
            return units
        moved = sum(b != a + 1 for a, b in zip(order, order[1:]))
        self._record(Applied("scheduler", found, True, "", schedule.path, moved))
        return self._commit(tied)

    def close(self) -> None:
        if self._hooks is not None:
            self._hooks.close()
            self._hooks = None
            if not self.results:
                log.warning("no graph with collectives was compiled while the schedules were installed: was it compiled "
                            "before? (torch._dynamo.reset() makes it be compiled anew)")

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def install(schedules: Union[str, Iterable[str]], timeout_s: float = 120.0) -> Bridge:
    """Applies schedules (files, or folders of them) to the graphs that are compiled from now on.

    Every rank must call it at the same point of the program. Raises ScheduleError for files that cannot be used and for
    options of Inductor that would undo a schedule; a graph that fits no schedule is compiled as if nothing were here.
    """
    return Bridge(load(schedules), timeout_s)
