"""Writes the graphs of a program: one file per graph and rank.

`Recorder` listens to Inductor; `backend` takes what dynamo hands to a backend; `exported_program` an exported one;
`trace_files` lists what a TORCH_TRACE folder holds (Gatherscope reads those files itself). A capture that fails is a
warning: it never breaks a compilation.
"""
from __future__ import annotations

import itertools
import os
import re
from typing import Any, Callable, Optional, Sequence

import torch
import torch.fx

from . import graph_json, scheduler_json
from .hooks import Hooks, log


def _rank() -> int:
    ready = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if ready else int(os.environ.get("RANK", "0"))


class Recorder:
    """Writes every graph that Inductor compiles while it is open, as `FOLDER/NAME.K.PHASE.LEVEL.rankR.json`.

    K counts the graphs of this process. `levels`: "fx" is the graph behind the post-grad passes, "scheduler" the
    scheduler's units behind fusion; each is where `apply` puts a schedule of that level.
    """

    def __init__(self, folder: str, name: str = "graph", levels: Sequence[str] = ("fx",), model: str = "") -> None:
        unknown = set(levels) - {"fx", "scheduler"}
        if unknown:
            raise ValueError(f"levels are fx and scheduler, not {', '.join(sorted(unknown))}")
        self.folder, self.name, self.model = folder, name, model
        self.files: list[str] = []
        self._count = itertools.count()
        self._last = (0, "")
        self._levels = tuple(levels)
        self._hooks: Optional[Hooks] = Hooks(self._fx, self._units if "scheduler" in levels else None)

    def _fx(self, graph: torch.fx.Graph) -> None:
        self._last = (next(self._count), graph_json.graph_phase(graph) or "inference")
        if "fx" in self._levels:
            self._write("fx", lambda name: graph_json.graph_json(
                graph, name, "Inductor graph behind the post-grad passes (post_grad_custom_post_pass)", self.model))

    def _units(self, units: list[Any]) -> list[Any]:
        self._write("scheduler", lambda name: scheduler_json.scheduler_json(units, name, self.model))
        return units

    def _write(self, level: str, make: Callable[[str], graph_json.Json]) -> None:
        name = f"{self.name}.{self._last[0]}.{self._last[1]}.{level}"
        try:
            self.files.append(graph_json.write(make(name), os.path.join(self.folder, f"{name}.rank{_rank()}.json")))
            log.info("captured %s", self.files[-1])
        except Exception:
            log.warning("the graph %s could not be captured", name, exc_info=True)

    def close(self) -> None:
        if self._hooks is not None:
            self._hooks.close()
            self._hooks = None

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def backend(folder: str, inner: Any = "inductor", name: str = "dynamo") -> Callable[..., Any]:
    """A backend for `torch.compile(…, backend=…)`: writes dynamo's graphs (with DTensor placements, before redistributes
    are taken apart), then compiles with `inner`."""
    from torch._dynamo.backends.registry import lookup_backend
    compile_fn = lookup_backend(inner) if isinstance(inner, str) else inner
    count = itertools.count()

    def capture(module: torch.fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Any:
        graph_name = f"{name}.{next(count)}"
        try:
            document = graph_json.graph_json(module.graph, graph_name, "torch.compile backend (dynamo graph)")
            graph_json.write(document, os.path.join(folder, f"{graph_name}.rank{_rank()}.json"))
        except Exception:
            log.warning("the graph %s could not be captured", graph_name, exc_info=True)
        return compile_fn(module, example_inputs, **options)

    return capture


def exported_program(program: Any, folder: str, name: str = "exported") -> str:
    """Writes the graph of a `torch.export.ExportedProgram`; parameters keep their names as `fqn`. Gives the path."""
    document = graph_json.graph_json(program.graph, name, "torch.export.ExportedProgram")
    signature = program.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    for node in document["nodes"]:
        if node["op"] == "placeholder" and node["name"] in names:
            node["meta"]["fqn"] = names[node["name"]]
    return graph_json.write(document, os.path.join(folder, f"{name}.rank{_rank()}.json"))


def trace_files(folder: str) -> dict[int, list[str]]:
    """The log files of a TORCH_TRACE folder by rank, newest last: `gatherscope-cli list FILE` shows the graphs in them."""
    found: dict[int, list[str]] = {}
    for entry in sorted(os.scandir(folder), key=lambda e: e.stat().st_mtime):
        if match := re.match(r"dedicated_log_torch_trace_(?:rank_(\d+)_)?.*\.log", entry.name):
            found.setdefault(int(match[1] or 0), []).append(entry.path)
    return found
