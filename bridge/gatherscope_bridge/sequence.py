"""The sequence of collectives of a program: what ranks must have in common, whatever else their graphs differ in.

Ranks whose shards are uneven have other graphs (one pads, one does not) and other schedules. They run together if every
rank's n-th collective is the same operator on the same sizes, and if all members of its group run it as their n-th: then
no rank waits for one that waits for another.
"""
from __future__ import annotations

from typing import Any, Iterable

from .graph_json import Json
from .schedule import digest


def _sizes(value: Any) -> Any:
    """Shapes and dtypes of a value, symbols by hint."""
    if isinstance(value, list):
        return [_sizes(item) for item in value]
    if isinstance(value, dict) and "shape" in value:
        return [value["dtype"], [s.get("hint") if isinstance(s, dict) else s for s in value["shape"]]]
    return None


def sequence(nodes: Iterable[Json], groups: Json) -> dict[str, Any]:
    """`collectives`: equal where operators, sizes and scalars are, with groups by first appearance (the same mesh dimension
    has another name on other ranks). `groups`: for each of those, which ranks it has and how many."""
    names: dict[str, int] = {}
    found = []
    for node in nodes:
        if "collective" in node["tags"]:
            scalars = [f"group {names.setdefault(arg, len(names))}" if arg in groups else arg
                       for arg in (*node["args"], *node["kwargs"].values()) if isinstance(arg, (str, int))]
            found.append([node["target"], scalars, _sizes(node["val"])])
    return {"collectives": digest(found), "groups": [[digest(groups[name]["ranks"]), len(groups[name]["ranks"])]
                                                     for name in names]}
