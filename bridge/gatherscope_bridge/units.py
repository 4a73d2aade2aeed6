"""Orders Inductor's scheduler nodes and keeps them in that order.

Inductor reorders behind fusion (for peak memory, and since 2.15 by `simple_overlap`), so an order alone would not last.
Every unit therefore gets a dependency without data on the one before it, of the kind with which Inductor itself keeps
collectives in order: all its later passes respect it, buffers live no longer for it, and only this graph is affected.
Fusion is over by then, so the kernels are the same as without a schedule.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence

from .scheduler_json import dependencies, is_advisory, is_launch, is_wait, owners, parts

POSITION = "gatherscope_position"  # in the meta of a node: its place in the order applied to its graph


def _origin_position(unit: Any) -> Optional[int]:
    """Place in the graph of what a unit computes: of a launch's or wait's own node, else of the last of the nodes in it
    (the kernel cannot run before their inputs are there)."""
    launch, wait = is_launch(unit), is_wait(unit)
    own: list[int] = []
    others: list[int] = []
    for part in parts(unit):
        for origin in part.node.get_origins() if part.node is not None else ():
            if POSITION in origin.meta:
                kind = _collective(origin)
                mine = kind == "wait" if wait else kind == "launch" if launch else kind is None
                (own if mine else others).append(int(origin.meta[POSITION]))
    return max(own or others, default=None)


def _collective(node: Any) -> Optional[str]:
    """"launch" or "wait" for a node of the functional collectives."""
    target = str(node.target)
    if "c10d_functional" not in target:
        return None
    return "wait" if "wait_tensor" in target else "launch"


def predecessors(units: Sequence[Any], advisory: bool) -> list[list[int]]:
    """Indices of the units that each must stay behind."""
    owner_of = owners(units)
    index = {id(unit): i for i, unit in enumerate(units)}
    found = []
    for i, unit in enumerate(units):
        needed, weak = dependencies(unit, owner_of)
        names = needed + weak if advisory else needed
        found.append(sorted({index[id(owner_of[name])] for name in names if name in owner_of} - {i}))
    return found


def scheduled(units: Sequence[Any]) -> bool:
    """Whether they are of a graph that a schedule was applied to."""
    return any(_origin_position(unit) is not None for unit in units)


def order_by_origins(units: Sequence[Any]) -> list[int]:
    """Order of the units after the positions of their nodes. Raises if the units come in an order that is none.

    A unit that a fused kernel made dependent on later work takes what it needs with it: its place is the earliest of
    its own and of everything that needs it, which is an order without cycles."""
    keys: list[float] = []
    for unit in units:
        position = _origin_position(unit)
        keys.append(position if position is not None else keys[-1] if keys else -1)
    before = predecessors(units, advisory=True)
    if any(p > i for i, ps in enumerate(before) for p in ps):
        raise ValueError("the scheduler's units are not in the order of their dependencies")
    for i in range(len(units) - 1, -1, -1):
        for p in before[i]:
            keys[p] = min(keys[p], keys[i])
    return sorted(range(len(units)), key=lambda i: (keys[i], i))


def broken_edge(units: Sequence[Any], order: Sequence[int]) -> Optional[tuple[str, str]]:
    """Names of two units that must stay in order and do not."""
    place = {unit: at for at, unit in enumerate(order)}
    for i, before in enumerate(predecessors(units, advisory=False)):
        for p in before:
            if place[p] > place[i]:
                return units[p].get_name(), units[i].get_name()
    return None


def _without_advisory(unit: Any, owner_of: dict[str, Any], later: set[int]) -> Any:
    """Its reads and writes without the advisory dependencies on units that now come later."""
    reads = type(unit.read_writes.reads)(
        dep for dep in unit.read_writes.reads
        if not (is_advisory(dep, unit, owner_of.get(dep.name)) and id(owner_of[dep.name]) in later))
    same = len(reads) == len(unit.read_writes.reads)
    return unit.read_writes if same else dataclasses.replace(unit.read_writes, reads=reads)


def tied(units: Sequence[Any], order: Sequence[int]) -> list[tuple[Any, Any]]:
    """The units in the order, each with reads and writes that tie it to the one before it. Changes nothing yet."""
    from torch._inductor.dependencies import WeakDep
    owner_of = owners(units)
    ordered = [units[i] for i in order]
    later = {id(unit) for unit in ordered}
    last: Optional[str] = None
    found = []
    for unit in ordered:
        read_writes = _without_advisory(unit, owner_of, later)
        later.discard(id(unit))
        names = list(unit.get_buffer_names())
        if last is not None and names:
            read_writes = read_writes.with_read(WeakDep(last, mutating_buf=names[0], is_fake=True))
        last = names[0] if names else last
        found.append((unit, read_writes))
    return found


def commit(ties: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Sets what `tied` found; gives the units in their order."""
    for unit, read_writes in ties:
        if read_writes is not unit.read_writes:
            unit.set_read_writes(read_writes)
    return [unit for unit, _ in ties]


def displaced(units: Sequence[Any]) -> list[str]:
    """Launches and waits that come before one that the schedule has in front of them: a fused kernel needs them."""
    found, last = [], -1
    for unit in units:
        position = _origin_position(unit)
        if position is not None and (is_launch(unit) or is_wait(unit)):
            if position < last:
                found.append(unit.get_name())
            last = max(last, position)
    return found


def collectives(units: Sequence[Any]) -> list[str]:
    """Launches and waits in their order, by the names of their nodes."""
    found = []
    for unit in units:
        kind = "launch" if is_launch(unit) else "wait" if is_wait(unit) else None
        if kind:
            found += sorted(origin.name for part in parts(unit) if part.node is not None
                            for origin in part.node.get_origins() if _collective(origin) == kind)[:1]
    return found
