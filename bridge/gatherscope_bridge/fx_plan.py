"""A schedule fitted to an fx graph: the nodes that its passes made, values of what they change, and the new order."""
from __future__ import annotations

import functools
import json
from typing import Any, Optional

import torch
import torch.fx

from . import units as unit_order
from .files import ScheduleError
from .graph_json import Json, argument as argument_json, node_json, tags, value_json
from .schedule import OWN_PART, Schedule, arguments, resolve, written
from .structural_hash import structural_hash

_INHERITED = ("partitioner_tag", "seq_nr", "nn_module_stack")  # by a made node, from its first input


def _own_rank(group: str) -> int:
    """This rank's place in a process group."""
    from torch.distributed import distributed_c10d as c10d
    try:
        rank = torch.distributed.get_rank(c10d._resolve_process_group(group))
    except Exception as error:
        raise ScheduleError(f"this process does not know the group {group}: {error}") from error
    if rank < 0:
        raise ScheduleError(f"this rank is not in the group {group}")
    return rank


def _own_texts(new: Any, old: Any) -> Any:
    """An argument of a node that stays, with this rank's own texts and devices: names of groups and indices of devices are
    others on other ranks, and no pass changes them."""
    if isinstance(new, (list, tuple)) and isinstance(old, (list, tuple)) and len(new) == len(old):
        return type(old)(_own_texts(a, b) for a, b in zip(new, old))
    return old if isinstance(old, (str, torch.device)) and isinstance(new, type(old)) else new


def _same_layout(a: Any, b: Any) -> bool:
    return value_json(a) == value_json(b) and (
        not isinstance(a, torch.Tensor) or a.storage_offset() == b.storage_offset())


def _sizes(value: Any) -> Any:
    """What no pass may change of a value: types, shapes, devices."""
    if isinstance(value, list):
        return [_sizes(item) for item in value]
    return {key: item for key, item in value.items() if key != "stride"} if isinstance(value, dict) else value


class FxPlan:
    """A schedule fitted to a graph. Until `commit` the graph runs as before; `drop` takes every trace away."""

    def __init__(self, schedule: Schedule, graph: torch.fx.Graph, document: Json) -> None:
        self.schedule, self.graph = schedule, graph
        self.before = list(graph.nodes)
        self.after: list[torch.fx.Node] = []
        self.made: list[torch.fx.Node] = []
        self.calls: dict[torch.fx.Node, tuple[Any, Any]] = {}
        self.values: dict[torch.fx.Node, Any] = {}  # of nodes that stay, where a made input gives them another layout
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
            call = schedule.rewritten.get(name)
            if p < 0:
                node_of[name] = self._make(schedule.rewritten[name], node_of, document["groups"])
            else:
                if call is not None:
                    self._change(node_of[name], self._call(call, node_of))
                self._revalue(node_of[name])
            self.after.append(node_of[name])
        self._check()

    def _argument(self, item: Any, node_of: dict[str, torch.fx.Node]) -> Any:
        """An argument of a schedule as fx has it."""
        if isinstance(item, list):
            return [self._argument(child, node_of) for child in item]
        if not isinstance(item, dict):
            return item
        if OWN_PART in item:
            return _own_rank(item[OWN_PART]) * item["rows"] + item["plus"]
        if "n" in item:
            if item["n"] not in node_of:
                raise ScheduleError(f"an argument names {item['n']}, which the graph does not have")
            return node_of[item["n"]]
        if "dtype" in item:
            return getattr(torch, item["dtype"])
        if "float" in item:
            return float(item["float"])
        if "device" in item:
            return self._device(torch.device(item["device"]))
        raise ScheduleError(f"an argument {json.dumps(item)} cannot be made in torch")

    def _device(self, device: torch.device) -> torch.device:
        """This rank's device for one of the exporting rank: "cuda:0" is another's "cuda:1"."""
        values = [n.meta.get("val") for n in self.before]
        found = {value.device for value in values if isinstance(value, torch.Tensor) and value.device.type == device.type}
        if device in found:
            return device
        if len(found) != 1:
            raise ScheduleError(f"which device is {device} here? The graph uses {len(found)} of this type")
        return found.pop()

    def _call(self, call: Json, node_of: dict[str, torch.fx.Node]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (tuple(self._argument(call["args"], node_of)),
                {key: self._argument(item, node_of) for key, item in call["kwargs"].items()})

    def _change(self, node: torch.fx.Node, call: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
        args, kwargs = call
        args = _own_texts(args, node.args)
        kwargs = {key: _own_texts(item, node.kwargs.get(key)) for key, item in kwargs.items()}
        if written(node.target, args, kwargs) != written(node.target, node.args, node.kwargs):
            raise ScheduleError(f"{node.name} would write into something else")
        self.calls[node] = (args, kwargs)

    def _make(self, call: Json, node_of: dict[str, torch.fx.Node], groups: Json) -> torch.fx.Node:
        target, (args, kwargs) = resolve(call["target"]), self._call(call, node_of)
        self._check_group(call, target, args, kwargs, groups)
        with self.graph.inserting_before(self.before[-1]):
            node = self.graph.call_function(target, args, kwargs)
        self.made.append(node)
        node.meta["val"] = self._evaluate(node, args, kwargs)
        first = next(iter(node.all_input_nodes), None)
        if first is not None:
            node.meta.update({k: v for k, v in first.meta.items() if k in _INHERITED})
        return node

    def _check_group(self, call: Json, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], groups: Json) -> None:
        """A made collective runs on a group that this rank's own collectives use: another rank's names may mean others."""
        given = arguments(target, args, kwargs)
        if groups and "group_name" in given and given["group_name"] not in groups:
            raise ScheduleError(f"{call['name']} runs on the group {given['group_name']}, which no collective of this rank's "
                                "graph uses; export a schedule from this rank's capture, too")

    def _evaluate(self, node: torch.fx.Node, args: Any, kwargs: Any) -> Any:
        """Value of a node for the values that its inputs will have."""
        def value(n: torch.fx.Node) -> Any:
            return self.values[n] if n in self.values else n.meta["val"]

        values = torch.fx.node.map_arg((args, kwargs), value)
        fake_mode = torch._guards.detect_fake_mode(values) or self._fake_mode
        if fake_mode is None:
            raise ScheduleError(f"the inputs of {node.name} have no values to make it from")
        with fake_mode:
            return node.target(*values[0], **values[1])

    @functools.cached_property
    def _fake_mode(self) -> Optional[Any]:
        """That of the graph: a buffer that is made has no inputs."""
        return torch._guards.detect_fake_mode([n.meta["val"] for n in self.before if "val" in n.meta])

    def _revalue(self, node: torch.fx.Node) -> None:
        """Gives a node that stays the value that follows from new inputs. Strides may be others, shapes and types not."""
        args, kwargs = self.calls.get(node, (node.args, node.kwargs))
        inputs: list[torch.fx.Node] = []
        torch.fx.node.map_arg((args, kwargs), inputs.append)
        changed = node in self.calls or any(n in self.values for n in inputs)
        if not changed or node.op != "call_function" or "val" not in node.meta:
            return
        value = self._evaluate(node, args, kwargs)
        if _sizes(value_json(value)) != _sizes(value_json(node.meta["val"])):
            raise ScheduleError(f"{node.name} would have another shape or type")
        if not _same_layout(value, node.meta["val"]):
            self.values[node] = value

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

    def collectives(self) -> list[Json]:
        """The launches in their new order, as a graph file has them."""
        found = []
        for node in self.after:
            if "collective" in tags(node):
                args, kwargs = self.calls.get(node, (node.args, node.kwargs))
                found.append({**node_json(node), "args": [argument_json(item) for item in args],
                              "kwargs": {key: argument_json(item) for key, item in kwargs.items()}})
        return found

    def drop(self) -> None:
        for node in reversed(self.made):
            self.graph.erase_node(node)
        self.made = []

    def commit(self) -> int:
        """Changes the graph; gives the number of nodes that are not behind the same node as before."""
        for node, (args, kwargs) in self.calls.items():
            node.args, node.kwargs = args, kwargs
        for node, value in self.values.items():
            node.meta["val"] = value
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
