"""`gatherscope.graph` of level "scheduler" from Inductor's scheduler nodes: fused kernels as units.

This is the level at which Inductor orders what runs: a unit is a kernel, a collective or a wait. Dependencies that only
keep collectives in their order become `weak_inputs` (advisory); every other dependency, also the ones without data
(a write behind a read), becomes an input, so that nothing that must stay in order can be lost.
"""
from __future__ import annotations

from typing import Any, Iterable, Optional

import torch

from .graph_json import Json, dtype_name, graph_phase, header, phase, plain_repr, value_json

WAIT = "_c10d_functional.wait_tensor.default"


def parts(unit: Any) -> list[Any]:
    """The scheduler nodes fused into a unit; itself if it is none."""
    return list(unit.get_nodes())


def is_launch(unit: Any) -> bool:
    from torch._inductor.utils import is_collective
    return any(is_collective(part.node) for part in parts(unit))


def is_wait(unit: Any) -> bool:
    from torch._inductor.utils import is_wait
    return any(is_wait(part.node) for part in parts(unit))


def is_advisory(dep: Any, unit: Any, owner: Optional[Any]) -> bool:
    """A WeakDep that only keeps launches in their order. Inductor chains each launch to the one before it; where that one
    is waited for in between, the chain ends at the wait. A launch that writes its own input may need the edge for that,
    and a dependency that control_deps ordered names an operation, not a buffer: both stay."""
    return (type(dep).__name__ == "WeakDep" and getattr(dep, "is_fake", False) and is_launch(unit)
            and owner is not None and (is_launch(owner) or is_wait(owner))
            and dep.mutating_buf in unit.get_buffer_names()
            and not any(output.get_mutations() for output in unit.get_outputs()))


def owners(units: Iterable[Any]) -> dict[str, Any]:
    """Buffer name → the unit that defines it."""
    return {name: unit for unit in units for name in unit.get_buffer_names()}


def dependencies(unit: Any, owner_of: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Names of the buffers and graph inputs that it needs, those that it reads first, and of the advisory ones."""
    own = set(unit.get_buffer_names())
    read: set[str] = set()
    ordered: set[str] = set()
    advisory: set[str] = set()
    for dep in (*unit.read_writes.reads, *unit.unmet_dependencies):
        if dep.name in own:
            continue
        if is_advisory(dep, unit, owner_of.get(dep.name)):
            advisory.add(dep.name)
        else:
            (ordered if type(dep).__name__ == "WeakDep" else read).add(dep.name)
    return sorted(read) + sorted(ordered - read), sorted(advisory - read - ordered)


def _size(expr: Any) -> Any:
    """A size as an int, or `{"sym", "hint"}`."""
    from torch._inductor.virtualized import V
    try:
        return int(expr)
    except (TypeError, ValueError):
        pass
    sizes = V.graph.sizevars
    try:
        read = getattr(sizes, "size_hint", None) or sizes.optimization_hint
        hint: Optional[int] = int(read(expr))
    except Exception:  # known at run time only
        hint = None
    return {"sym": str(expr), "hint": hint}


def _tensor(ir: Any) -> Optional[Json]:
    try:
        size, stride = ir.get_size(), ir.get_stride()
        return {"dtype": dtype_name(ir.get_dtype()), "shape": [_size(s) for s in size],
                "stride": [_size(s) for s in stride], "device": str(ir.get_device())}
    except Exception:  # no tensor of its own: NoneLayout, MultiOutputLayout
        return None


def target_name(unit: Any) -> str:
    """The operator of an extern kernel, "fused" for fused units, getitem for one of several results, else the class of the
    IR node."""
    if len(parts(unit)) > 1 or unit.node is None:
        return "fused"
    kind = type(unit.node).__name__
    if kind == "_WaitKernel":
        return WAIT
    if _item(unit) is not None:
        return "operator.getitem"
    if type(unit).__name__.startswith("Nop"):
        return "aten.empty.memory_format"
    overload = getattr(unit.node, "op_overload", None)
    if isinstance(overload, torch._ops.OpOverload):
        return str(overload)
    kernel = getattr(unit.node, "python_kernel_name", None) or ""
    if kernel.startswith("extern_kernels."):
        return f"aten.{kernel.removeprefix('extern_kernels.')}.out"
    return kernel.removeprefix("torch.ops.") or kind


def _item(unit: Any) -> Optional[int]:
    """Which of the results of another unit this one names: those of a coalesced launch are waited for one by one."""
    indices = getattr(unit.node, "indices", None) if type(unit.node).__name__ == "MultiOutput" else None
    return int(indices[0][1]) if indices and len(indices) == 1 else None


def _constants(unit: Any) -> list[Any]:
    """Scalar arguments of a collective: group size, group name, reduction."""
    if len(parts(unit)) > 1 or unit.node is None:
        return []
    return [item if isinstance(item, (int, str)) else plain_repr(item)
            for item in getattr(unit.node, "constant_args", ()) or ()]


def _phase(unit: Any) -> Optional[str]:
    origins = [origin for part in parts(unit) if part.node is not None for origin in part.node.get_origins()]
    found = {phase(origin, graph_phase(origin.graph)) for origin in origins[:1]} | {phase(origin) for origin in origins}
    return "backward" if "backward" in found else "forward" if "forward" in found else None


def _unit_json(unit: Any, node_of: dict[str, str], owner_of: dict[str, Any]) -> Json:
    needed, advisory = dependencies(unit, owner_of)
    if is_launch(unit) and len(parts(unit)) == 1:  # what a coalesced launch sends, in its order
        place = {item.get_name(): at for at, item in reversed(list(enumerate(unit.node.inputs)))}
        needed = sorted(needed, key=lambda name: place.get(name, len(place)))
    inputs = list(dict.fromkeys(node_of[name] for name in needed if name in node_of))
    weak = list(dict.fromkeys(node_of[name] for name in advisory if name in node_of))
    outputs = unit.get_outputs()
    values = [_tensor(output.node) for output in outputs]
    origins = {origin.name for part in parts(unit) if part.node is not None for origin in part.node.get_origins()}
    constants = _constants(unit) if is_launch(unit) else []
    args: list[Any] = [{"n": name} for name in inputs]
    if constants:
        args = [args if "_coalesced" in target_name(unit) else args[0], *constants]
    elif (item := _item(unit)) is not None and args:
        args = [args[0], item]
    return {
        "name": unit.get_name(), "op": "call_function", "target": target_name(unit),
        "args": args, "kwargs": {}, "inputs": inputs,
        "weak_inputs": [name for name in weak if name not in inputs],
        "val": values[0] if len(values) == 1 else values,
        "tags": ["collective"] if is_launch(unit) else ["wait"] if is_wait(unit) else [],
        "flops": None, "phase": _phase(unit), "module": None, "source": None,
        "meta": {"class": type(unit).__name__, "ir": type(unit.node).__name__ if unit.node is not None else None,
                 "buffers": [output.get_name() for output in outputs],
                 "mutates": sorted({name for output in outputs for name in output.get_mutations()}),
                 "aliases": sorted({name for output in outputs for name in output.get_aliases()}),
                 "constant_args": [str(item) for item in constants]},
        "origins": sorted(origins)}


def _input_json(name: str) -> Json:
    from torch._inductor.virtualized import V
    value = V.graph.graph_inputs.get(name)
    return {"name": name, "op": "placeholder", "target": name, "args": [], "kwargs": {}, "inputs": [],
            "weak_inputs": [], "val": _tensor(value) if value is not None else value_json(None), "tags": [],
            "flops": None, "phase": None, "module": None, "source": None, "meta": {}, "origins": []}


def scheduler_json(units: list[Any], name: str = "graph", model: str = "") -> Json:
    """The whole document: the graph inputs that are read, the units in their order, the output."""
    from torch._inductor.virtualized import V
    owner_of = owners(units)
    node_of = {buffer: unit.get_name() for buffer, unit in owner_of.items()}
    read = {dep for unit in units for dep in dependencies(unit, owner_of)[0]}
    inputs = [n for n in V.graph.graph_inputs if n in read] + sorted(
        n for n in read if n not in owner_of and n not in V.graph.graph_inputs)
    nodes = [_input_json(n) for n in inputs]
    node_of.update((n, n) for n in inputs)
    nodes += [_unit_json(unit, node_of, owner_of) for unit in units]
    returned = list(dict.fromkeys(node_of[n] for n in V.graph.get_output_names() if n in node_of))
    nodes.append({"name": "output", "op": "output", "target": "output", "args": [[{"n": n} for n in returned]],
                  "kwargs": {}, "inputs": returned, "weak_inputs": [], "val": None, "tags": [], "flops": None,
                  "phase": None, "module": None, "source": None, "meta": {}, "origins": []})
    return {**header(name, "Inductor scheduler nodes, behind fusion (_post_fusion_custom_pass)", nodes, model,
                     "scheduler"), "nodes": nodes}
