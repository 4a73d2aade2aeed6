"""Runs an exported schedule: the order of Gatherscope in the graphs that Inductor compiles.

A schedule belongs to one graph, known by its structural hash; any other graph is left as it is. A schedule of level "fx"
reorders the graph behind the post-grad passes (and makes the buckets that it asks for), and the scheduler's
units are put into the same order behind fusion; a schedule of level "scheduler" orders those units alone. `units.py`
says what keeps the order. Ranks vote before anything changes (`ranks.py`).
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Union

import torch
import torch.fx

from . import units as unit_order
from .files import ScheduleError
from .fx_plan import FxPlan
from .graph_json import Json, graph_json, launches
from .hooks import Hooks, log
from .ranks import agree
from .schedule import Schedule, load
from .scheduler_json import is_launch, scheduler_json
from .sequence import sequence
from .structural_hash import structural_hash

_installs = itertools.count()


@dataclass(frozen=True)
class Applied:
    """What became of one graph."""

    level: str
    graph_hash: str
    applied: bool
    reason: str = ""  # why not
    schedule: str = ""  # path
    moved: int = 0  # nodes that are behind others than before


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


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class Bridge:
    """Schedules at work from construction to `close`; `results` says what became of each graph."""

    def __init__(self, schedules: Iterable[Schedule], timeout_s: float = 120.0) -> None:
        _check_config()
        self.results: list[Applied] = []
        self.collectives: list[list[str]] = []  # launches and waits of each scheduled graph in their final order
        self._timeout_s = timeout_s
        self._by_hash: dict[tuple[str, str], list[Schedule]] = {}
        for schedule in schedules:
            same = self._by_hash.setdefault((schedule.level, schedule.source_hash), [])
            if same and same[0].digest() != schedule.digest():
                raise ScheduleError(f"{same[0].path} and {schedule.path} order the same graph differently")
            same.append(schedule)
        self._levels = sorted({level for level, _ in self._by_hash})
        self._install = next(_installs)
        self._votes = {"fx": itertools.count(), "scheduler": itertools.count()}
        self._hooks: Optional[Hooks] = Hooks(self._fx, self._units)

    def _schedule(self, level: str, found: str, groups: Json) -> Optional[Schedule]:
        """The schedule for a graph; of those of several ranks, the one whose groups are this rank's."""
        same = self._by_hash.get((level, found), [])
        return next((schedule for schedule in same if schedule.groups() <= set(groups)), same[0] if same else None)

    def _vote(self, level: str, refused: str, program: dict[str, Any]) -> tuple[bool, str]:
        """`program`: the sequence of collectives that this rank would run; of no meaning where it refuses. The levels of
        the schedules decide whether the units of a graph are voted on as well."""
        topic = f"{self._install}/{level}/{next(self._votes[level])}"
        decision = agree(topic, {**program, "levels": self._levels, "refused": refused}, self._timeout_s)
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
        program: dict[str, Any] = {}
        try:
            document = graph_json(graph)
            found = structural_hash(document)
            schedule = self._schedule("fx", found, document["groups"])
            if schedule is None:
                refused = f"no schedule for the graph {found}"
            else:
                plan = FxPlan(schedule, graph, document)
                program = sequence(plan.collectives(), document["groups"])
        except Exception as error:
            refused = f"{schedule.path if schedule else 'the graph cannot be read'}: {_reason(error)}"
        agreed, reason = self._vote("fx", refused, program)
        if not agreed and plan is not None:
            plan.drop()
        if schedule is None and found != "?" and "scheduler" in self._levels:
            return  # a schedule of the units may follow; nothing to say yet
        if not agreed or plan is None or schedule is None:
            self._record(Applied("fx", found, False, reason or refused, schedule.path if schedule else ""))
            return
        for move in schedule.moves:
            log.debug("launch %s: %s → %s", move["launch"], move["from"], move["to"])
        self._record(Applied("fx", found, True, "", schedule.path, plan.commit()))

    def _units(self, units: list[Any]) -> list[Any]:
        try:
            scheduled, refused = unit_order.scheduled(units), ""
        except Exception as error:
            scheduled, refused = False, _reason(error)
        if scheduled and "scheduler" not in self._levels:
            return self._keep_order(units)
        ordered = self._units_of_schedule(units, refused, scheduled)
        if ordered is None:
            return self._keep_order(units) if scheduled else units
        return ordered

    def _keep_order(self, units: list[Any]) -> list[Any]:
        """Puts the units of a graph that a schedule was applied to into its order. The ranks have agreed; one that cannot
        keep the order has its launches in the same sequence all the same, by Inductor's own chain."""
        try:
            ordered = self._commit(unit_order.tied(units, unit_order.order_by_origins(units)))
        except Exception as error:
            log.warning("the order of the scheduler could not be kept: %s", error, exc_info=True)
            return units
        if names := unit_order.displaced(ordered):
            log.warning("%d launches and waits are not where the schedule has them, because fused kernels need them "
                        "elsewhere: %s", len(names), ", ".join(names[:8]))
        return ordered

    def _commit(self, tied: list[tuple[Any, Any]]) -> list[Any]:
        ordered = unit_order.commit(tied)
        self.collectives.append(unit_order.collectives(ordered))
        return ordered

    def _fit_units(self, units: list[Any], schedule: Schedule, nodes: list[Json]) -> list[int]:
        """The order of a schedule of level "scheduler", which must be one of these units."""
        first = next(i for i, node in enumerate(nodes) if node["op"] == "call_function")
        order = [p - first for p in schedule.positions if first <= p < first + len(units)]
        if sorted(order) != list(range(len(units))):
            raise ScheduleError(f"{schedule.path}: not an order of these units")
        if broken := unit_order.broken_edge(units, order):
            raise ScheduleError(f"{schedule.path}: {broken[1]} would run before {broken[0]}, which it needs")
        return order

    def _units_of_schedule(self, units: list[Any], refused: str, scheduled: bool) -> Optional[list[Any]]:
        """Applies a schedule of level "scheduler", if there is one for these units; None if not. `refused`: why none can
        be. `scheduled`: a schedule of level "fx" has made this graph, its order holds where there is none for the units."""
        found, schedule, program = "?", None, {}
        order: list[int] = []
        tied: Optional[list[tuple[Any, Any]]] = None
        try:
            if not any(map(is_launch, units)):
                return None
            document = scheduler_json(units)
            found = structural_hash(document)
            schedule = self._schedule("scheduler", found, document["groups"])
            if schedule and not refused:
                order = self._fit_units(units, schedule, document["nodes"])
                tied = unit_order.tied(units, order)
                program = sequence([document["nodes"][p] for p in schedule.positions], document["groups"])
            refused = refused or ("" if schedule else f"no schedule for the units {found}")
        except Exception as error:
            refused = _reason(error)
        agreed, reason = self._vote("scheduler", refused, program)
        if agreed and tied is not None and schedule is not None:
            moved = sum(b != a + 1 for a, b in zip(order, order[1:]))
            self._record(Applied("scheduler", found, True, "", schedule.path, moved))
            return self._commit(tied)
        if "scheduler" in self._levels and not (scheduled and schedule is None):
            self._record(Applied("scheduler", found, False, reason or refused, schedule.path if schedule else ""))
        return None

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
