"""Reading an exported schedule (`gatherscope.schedule` version 1), and what in it depends on no graph.

A gather that was merged into one buffer writes this rank's shards into its own part of that buffer. The file has the part
of the rank whose graph was exported; here it becomes "this rank's part", so that one file serves all ranks.
"""
from __future__ import annotations

import glob
import hashlib
import json
import operator
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import torch

from .files import Fields, ScheduleError, read_json
from .graph_json import Json

_EMPTY = "aten.empty.memory_format"
_SLICE = "aten.slice.Tensor"
_GATHER_INTO = "_c10d_functional.all_gather_into_tensor_out.default"
_SAME_MEMORY = (_SLICE, "aten.view.default", "aten.view.dtype", "aten.alias.default", "aten.copy_.default")
OWN_PART = "own_part_of_group"  # an argument that stands for a bound of this rank's part: {OWN_PART: group, "rows", "plus"}


def resolve(name: str) -> Any:
    """The operator of a call that passes made."""
    if name == "operator.getitem":
        return operator.getitem
    parts = name.split(".")
    if len(parts) == 3 and parts[0] in ("_c10d_functional", "aten", "prims"):
        try:
            return getattr(getattr(getattr(torch.ops, parts[0]), parts[1]), parts[2])
        except (AttributeError, TypeError, UnicodeError):  # names that no operator has, or can have
            pass
    raise ScheduleError(f"this torch cannot make a node of {name}")


@dataclass(frozen=True)
class Schedule:
    """An exported schedule."""

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
        schedule._check()
        schedule._take_own_parts()
        return schedule

    def made(self) -> set[str]:
        """Nodes that passes made."""
        return {name for name, p in zip(self.order, self.positions) if p < 0}

    def _check(self) -> None:
        """Raises if the file contradicts itself."""
        kept = [p for p in self.positions if p >= 0]
        if any(p < -1 for p in self.positions):
            raise ScheduleError(f"{self.path}: positions has a number below -1")
        if len(self.positions) != len(self.order) or len(set(kept)) != len(kept) or len(set(self.order)) != len(self.order):
            raise ScheduleError(f"{self.path}: the order is not an order of distinct nodes")
        if missing := self.made() - set(self.rewritten):
            raise ScheduleError(f"{self.path}: the call of {sorted(missing)[0]} is missing")
        if strange := set(self.rewritten) - set(self.order):
            raise ScheduleError(f"{self.path}: rewritten names {sorted(strange)[0]}, which is not in the order")
        if self.level not in ("fx", "scheduler"):
            raise ScheduleError(f"{self.path}: the level \"{self.level}\" is not known")
        if self.level == "scheduler" and self.rewritten:
            raise ScheduleError(f"{self.path}: passes made new nodes; kernels cannot be made from a schedule. Apply the "
                                "buckets at level fx, capture the units of that run, and schedule those")
        if any(self.rewritten[name].get("op") == "call_method" for name in self.made()):
            raise ScheduleError(f"{self.path}: redistributes were lowered, in a graph of dynamo that Inductor never sees. "
                                "Export from a graph that the Recorder wrote: there they are collectives already")
        for name in self.made():
            call = self.rewritten[name]
            if any(self._buffer_of(item) is None for item in written(resolve(call["target"]), call["args"], call["kwargs"])):
                raise ScheduleError(f"{self.path}: {name} writes into memory that the schedule did not make")

    def _buffer_of(self, item: Any) -> Optional[str]:
        """The buffer made by the schedule in which this argument lies; None if it is none of those."""
        made = self.made()
        for _ in range(len(self.rewritten)):
            name = item.get("n") if isinstance(item, dict) else None
            call = self.rewritten.get(name) if isinstance(name, str) and name in made else None
            if call is None:
                return None
            if call["target"] == _EMPTY:
                return name
            if call["target"] not in _SAME_MEMORY or not call["args"]:
                return None
            item = call["args"][0]
        return None

    def _take_own_parts(self) -> None:
        """Replaces the bounds of the exporting rank's part of a gathered buffer. A merged gather that is not of this form
        could only be right on that rank: raises."""
        for name in self.made():
            gather = self.rewritten[name]
            if gather["target"] != _GATHER_INTO:
                continue
            args, whole = gather["args"], self._buffer_of(gather["kwargs"].get("out"))
            size = self.rewritten[whole]["args"] if whole else None
            part = self._slice_of(args[0] if args else None)
            if not (part and len(args) == 3 and isinstance(args[1], int) and args[1] > 0 and isinstance(args[2], str)
                    and isinstance(size, list) and len(size) == 1 and isinstance(size[0], list) and len(size[0]) == 1
                    and isinstance(size[0][0], int) and part["args"][0] == {"n": whole}):
                raise ScheduleError(f"{self.path}: {name} does not gather from a part of its buffer")
            rows = size[0][0] // args[1]
            bounds = part["args"][1:]
            if bounds != [0, bounds[1], bounds[1] + rows] or bounds[1] % max(rows, 1) or rows * args[1] != size[0][0]:
                raise ScheduleError(f"{self.path}: {name} gathers from something else than a rank's part of its buffer")
            part["args"] = [{"n": whole}, 0, *({OWN_PART: args[2], "rows": rows, "plus": n} for n in (0, rows))]

    def _slice_of(self, item: Any) -> Optional[Json]:
        """The slice that an argument is, or into which the copy that it is copied."""
        for _ in range(2):
            name = item.get("n") if isinstance(item, dict) else None
            call = self.rewritten.get(name) if isinstance(name, str) else None
            if call is not None and call["target"] == _SLICE:
                args = call["args"]
                return call if len(args) == 4 and all(isinstance(n, int) for n in args[1:]) else None
            if call is None or call["target"] != "aten.copy_.default" or not call["args"]:
                return None
            item = call["args"][0]
        return None

    def digest(self) -> str:
        """Equal where schedules do the same. Texts among the arguments of new calls are group names, which may differ
        by rank, and reductions: only which of them are the same counts. Of devices, the type counts."""
        texts: dict[str, int] = {}

        def canonical(item: Any) -> Any:
            if isinstance(item, str):
                return ["text", texts.setdefault(item, len(texts))]
            if isinstance(item, dict) and OWN_PART in item:
                return ["own part", item["rows"], item["plus"]]
            if isinstance(item, dict) and isinstance(item.get("device"), str):
                return ["device", item["device"].split(":")[0]]
            return [canonical(child) for child in item] if isinstance(item, list) else item

        calls = []
        for call in (self.rewritten[name] for name in self.order if name in self.rewritten):
            keywords = [[key, canonical(item)] for key, item in sorted(call["kwargs"].items())]
            calls.append([call["name"], call["target"], canonical(call["args"]), keywords])
        return digest([self.level, self.positions, calls])


def arguments(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of an operator by name; empty for what has no schema."""
    schema = getattr(target, "_schema", None)
    return {**dict(zip((argument.name for argument in schema.arguments), args)), **kwargs} if schema else {}


def written(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Arguments that a call writes into."""
    found: list[Any] = []
    schema = getattr(target, "_schema", None)
    for index, argument in enumerate(schema.arguments if schema else ()):
        if argument.alias_info is not None and argument.alias_info.is_write:
            by_place = not argument.kwarg_only and index < len(args)
            item = args[index] if by_place else kwargs.get(argument.name)
            found += item if isinstance(item, (list, tuple)) else [item]
    return found


def digest(value: Any) -> str:
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
