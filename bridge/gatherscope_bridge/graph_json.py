"""`gatherscope.graph` version 1 from an `fx.Graph`: the node list, and how values and arguments are written.

One format for every capture, so that a graph says the same of itself whichever way it was taken. Everything here
reads; nothing changes a graph.
"""
from __future__ import annotations

import gzip
import json
import math
import os
import re
from typing import Any, Iterable, Optional

import torch
import torch.fx

from .files import Fields, read_json

Json = dict[str, Any]

_REDUCTIONS = frozenset((
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "cumprod", "cumsum", "logsumexp", "max", "mean",
    "min", "norm", "prod", "std", "std_mean", "sum", "var", "var_mean", "_log_softmax", "_softmax", "native_layer_norm"))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MODULES = re.compile(r"\._modules\['([^']+)'\]")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*\n\s*([^\n]*)')
# What other passes leave on nodes, copied as it is where it is plain (FORMAT.md, "meta").
_PLAIN_META = ("seq_nr", "partitioner_tag", "autograd_backward", "custom", "ac_graph_id", "is_gradient_acc", "comm_type",
               "param_name", "fsdp_unsharded_nbytes", "fsdp_bucket_id", "fsdp_bucket_members", "fsdp_bucket_copy_out")


def symbol_hint(value: Any) -> Optional[int]:
    """The size that a symbolic integer had while tracing; None for one that only the run knows."""
    try:
        hint = value.node.hint
        return None if hint is None else int(hint)
    except Exception:  # unbacked symbols raise different things in different versions
        return None


def integer(value: Any) -> Any:
    """An int, or `{"sym", "hint"}`."""
    if isinstance(value, torch.SymInt):
        node = value.node
        return {"sym": str(node.expr if hasattr(node, "expr") else value), "hint": symbol_hint(value)}
    return int(value)


def plain_repr(value: Any) -> str:
    """`repr` without addresses: they differ by rank and by run."""
    return _ADDRESS.sub("", repr(value))


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def tensor(value: torch.Tensor) -> Json:
    local = value
    try:
        stride: Any = [integer(s) for s in local.stride()]
    except Exception:  # sparse and other layouts have none
        stride = None
    return {"dtype": dtype_name(value.dtype), "shape": [integer(s) for s in local.shape], "stride": stride,
            "device": str(value.device)}


def value_json(value: Any) -> Any:
    """`meta["val"]` of a node (FORMAT.md, "val")."""
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, (list, tuple)):
        return [value_json(item) for item in value]
    if isinstance(value, torch.SymInt):
        return integer(value)
    if isinstance(value, bool):
        return {"repr": str(value)}
    if isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < 2**63:
        return value
    return {"repr": plain_repr(value)}


def argument(value: Any) -> Any:
    """An argument of a node (FORMAT.md, "Argument values")."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, torch.fx.Node):
        return {"n": value.name}
    if isinstance(value, torch.SymInt):
        return integer(value)
    if isinstance(value, int):
        return value if -2**63 <= value < 2**63 else {"repr": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": "nan" if math.isnan(value) else str(value)}
    if isinstance(value, (list, tuple)):
        return [argument(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {str(key): argument(item) for key, item in value.items()}}
    if isinstance(value, slice):
        return {"slice": [argument(value.start), argument(value.stop), argument(value.step)]}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.layout):
        return {"layout": str(value).removeprefix("torch.")}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value).removeprefix("torch.")}
    return {"repr": plain_repr(value)}


def target_name(node: torch.fx.Node) -> str:
    """`aten.mm.default`, `operator.getitem`, `higher_order.NAME`, `torch.relu`; names as they are for the rest."""
    target = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.OpOverloadPacket):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    name = getattr(target, "__qualname__", "").rsplit("<locals>.", 1)[-1]
    given = getattr(target, "__name__", None) or plain_repr(target)
    name = name if name.rsplit(".", 1)[-1] == given else given  # dynamo names its closures: prim_redistribute
    module = getattr(target, "__module__", None) or "torch"
    return f"{ {'_operator': 'operator', 'builtins': 'torch'}.get(module, module)}.{name}"


def launches(graph: torch.fx.Graph) -> bool:
    """Whether it has a collective; asks nothing but the operators, so that no state of a graph can make it fail."""
    return any(isinstance(node.target, torch._ops.OpOverload) and _collective(node.target) == "collective"
               for node in graph.nodes)


def _collective(target: torch._ops.OpOverload) -> Optional[str]:
    if target.namespace not in ("_c10d_functional", "c10d_functional", "_c10d_functional_autograd"):
        return None
    return "wait" if target._schema.name.split("::")[1] == "wait_tensor" else "collective"


def tags(node: torch.fx.Node) -> list[str]:
    """What torch itself knows of the operator (FORMAT.md, "tags")."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return []
    from torch.utils.flop_counter import flop_registry
    namespace, packet = target.namespace, target._schema.name.split("::")[1]
    found = []
    if torch.Tag.pointwise in target.tags:
        found.append("pointwise")
    if target.is_view:
        found.append("view")
    if target.overloadpacket in flop_registry:
        found.append("compute")
    if kind := _collective(target):
        found.append(kind)
    if namespace == "aten" and packet in _REDUCTIONS:
        found.append("reduction")
    if target._schema.is_mutable:
        found.append("mutable")
    return found


def flops(node: torch.fx.Node) -> Optional[int]:
    """The FLOP counter's figure for a compute node, symbols by their hints."""
    from torch.utils.flop_counter import flop_registry
    count = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if count is None:
        return None
    values = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta.get("val"))
    try:
        result = count(*values[0], **values[1], out_val=node.meta.get("val"))
        return symbol_hint(result) if isinstance(result, torch.SymInt) else int(result)
    except Exception:  # a formula that does not know an argument: the figure is not known
        return None


def module_path(node: torch.fx.Node) -> Optional[str]:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack or not isinstance(stack, dict):  # a pass of the user may leave anything
        return None
    last = list(stack.values())[-1]
    path = last[0] if isinstance(last, (tuple, list)) and last else last
    return _MODULES.sub(r".\1", str(path)) or None  # torch 2.9 spells L['self']._modules['layers']


def source_line(node: torch.fx.Node) -> Optional[str]:
    """`file:line code` of the innermost Python frame."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return None
    file, line, code = frames[-1]
    return f"{file}:{line} {code}".strip()


def graph_phase(graph: torch.fx.Graph) -> Optional[str]:
    """forward or backward by the names that AOTAutograd gives to the inputs of the two; None for other graphs."""
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    if any(name.startswith("tangents_") for name in names):
        return "backward"
    return "forward" if any(name.startswith("primals_") for name in names) else None


def phase(node: torch.fx.Node, of_graph: Optional[str] = None) -> Optional[str]:
    """A node's own mark, else the phase of its graph (torch 2.9 marks little)."""
    if node.op in ("placeholder", "output", "get_attr"):
        return None
    if node.meta.get("autograd_backward") or node.meta.get("partitioner_tag") in ("is_backward", "must_be_in_backward"):
        return "backward"
    return "forward" if node.meta.get("partitioner_tag") in ("is_forward", "must_be_in_forward") else of_graph


def _dtensor(value: Any) -> Optional[Json]:
    """Placements of a DTensor: a dynamo graph's redistributes can be lowered by them."""
    if type(value).__name__ != "DTensor" or not hasattr(value, "_spec"):
        return None
    local = value._local_tensor
    return {"placements": repr(tuple(value.placements)), "mesh": str(tuple(value.device_mesh.shape)),
            "local_shape": [integer(s) for s in local.shape], "local_dtype": dtype_name(local.dtype)}


def _closure(target: Any) -> Optional[Json]:
    """torch 2.9's prim_redistribute and prim_to_local keep their arguments in the function's closure."""
    code, cells = getattr(target, "__code__", None), getattr(target, "__closure__", None)
    if code is None or not cells:
        return None
    names = dict(zip(code.co_freevars, cells))
    return {key: plain_repr(names[key].cell_contents) for key in ("args_as_value", "kwargs_as_value") if key in names} or None


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    return value is None or isinstance(value, (bool, int, str))


def meta(node: torch.fx.Node) -> Json:
    out: Json = {key: node.meta[key] for key in _PLAIN_META if key in node.meta and _plain(node.meta[key])}
    if "recompute" in node.meta and node.meta["recompute"] is not None:
        out["recompute"] = str(node.meta["recompute"])
    if (aten := node.meta.get("original_aten")) is not None and str(aten) != target_name(node):
        out["original_aten"] = str(aten)
    desc: Json = {}
    if placed := _dtensor(node.meta.get("example_value", node.meta.get("val"))):
        desc["dtensor"] = placed
    if (closure := _closure(node.target)) and node.op == "call_function":
        desc["closure"] = closure
    described = node.meta.get("desc")
    if desc:
        out["desc"] = desc
    elif isinstance(described, (list, tuple)):
        out["desc"] = [plain_repr(item) for item in described]
    elif described is not None:
        out["desc"] = plain_repr(described)
    if node.op == "placeholder" and isinstance(name := getattr(described, "target", None), str):
        out["fqn"] = name  # ParamAOTInput, BufferAOTInput
    return out


def node_json(node: torch.fx.Node, of_graph: Optional[str] = None) -> Json:
    value = node.meta.get("val", node.meta.get("example_value"))
    return {
        "name": node.name,
        "op": node.op,
        "target": target_name(node),
        "args": [] if node.op == "placeholder" else [argument(arg) for arg in node.args],
        "kwargs": {str(key): argument(arg) for key, arg in node.kwargs.items()},
        "inputs": [] if node.op == "placeholder" else [n.name for n in node.all_input_nodes],
        "val": value_json(value),
        "tags": tags(node),
        "flops": flops(node),
        "phase": phase(node, of_graph),
        "module": module_path(node),
        "source": source_line(node),
        "meta": meta(node),
    }


def group_names(nodes: Iterable[Json]) -> list[str]:
    """Texts among the arguments of collectives: group names and reductions ("sum"), told apart by `process_groups`."""
    return sorted({arg for node in nodes if "collective" in node["tags"] for arg in
                   (*node["args"], *node["kwargs"].values()) if isinstance(arg, str)})


def process_groups(nodes: Iterable[Json]) -> Json:
    """Name → ranks and description of the groups that the collectives use, as far as this process knows them."""
    groups: Json = {}
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return groups
    from torch.distributed import distributed_c10d as c10d
    for name in group_names(nodes):
        try:
            group = c10d._resolve_process_group(name)
            groups[name] = {"ranks": torch.distributed.get_process_group_ranks(group),
                            "desc": getattr(group, "group_desc", "") or ""}
        except Exception:  # not a group: the reduction of a reduce-scatter
            continue
    return groups


def header(name: str, capture: str, nodes: list[Json], model: str = "", level: str = "fx") -> Json:
    ready = torch.distributed.is_available() and torch.distributed.is_initialized()
    return {"format": "gatherscope.graph", "version": 1, "level": level, "name": name,
            "source": {"producer": f"torch {torch.__version__}", "capture": capture, "model": model,
                       "world_size": torch.distributed.get_world_size() if ready else 1,
                       "rank": torch.distributed.get_rank() if ready else 0},
            "groups": process_groups(nodes)}


def graph_json(graph: torch.fx.Graph, name: str = "graph", capture: str = "fx graph", model: str = "") -> Json:
    """The whole document of a graph."""
    of_graph = graph_phase(graph)
    nodes = [node_json(node, of_graph) for node in graph.nodes]
    return {**header(name, capture, nodes, model), "nodes": nodes}


def write(document: Json, path: str) -> str:
    """Writes a document with its header on line 1 and a node per line; `.gz` is packed. Whole or not at all."""
    head = json.dumps({key: item for key, item in document.items() if key != "nodes"}, separators=(",", ":"))
    lines = ",\n".join(json.dumps(node, separators=(",", ":")) for node in document["nodes"])
    data = f'{head[:-1]},"nodes":[\n{lines}\n]}}\n'.encode()
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    with open(part, "wb") as file:
        file.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)
    os.replace(part, path)
    return path


def read(path: str) -> Json:
    """A graph file with all that its structural hash is made of. Raises ScheduleError."""
    document = read_json(path, "gatherscope.graph")
    for node in Fields(path, document).objects("nodes"):
        for key, kind in (("name", str), ("op", str), ("target", str), ("args", list), ("kwargs", dict)):
            node.get(key, kind)
        if "inputs" in node.item:
            node.items("inputs", str)
    return document
