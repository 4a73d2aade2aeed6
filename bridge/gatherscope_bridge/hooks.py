"""Where the bridge sits in Inductor: behind the post-grad passes and behind fusion.

Both places are options that Inductor has for custom passes, in every version from 2.9 on. A pass that was there before
runs first; closing puts it back. While a hook is in, Inductor's caches of compiled graphs are bypassed: a cached graph
would run no pass, and on one rank only if its neighbour's cache is cold.
"""
from __future__ import annotations

import logging
from typing import Any, Callable, Optional

import torch.fx
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

log = logging.getLogger("gatherscope_bridge")

FxPass = Callable[[torch.fx.Graph], None]
UnitsPass = Callable[[list[Any]], list[Any]]


class _FxHook(CustomGraphPass):
    def __init__(self, run: FxPass, before: Any) -> None:
        self.run, self.before = run, before

    def __call__(self, graph: torch.fx.Graph) -> None:
        for earlier in self.before if isinstance(self.before, (list, tuple)) else [self.before]:
            if earlier is not None:
                earlier(graph)
        self.run(graph)

    def uuid(self) -> Optional[Any]:
        return None  # no caching


class _UnitsHook:
    def __init__(self, run: UnitsPass, before: Any) -> None:
        self.run, self.before = run, before

    def __call__(self, units: list[Any]) -> list[Any]:
        return self.run(self.before(units) if self.before is not None else units)

    def __reduce__(self) -> Any:
        return (str, ("gatherscope_bridge",))  # Inductor pickles its options; this one means nothing elsewhere


class Hooks:
    """Both hooks, in from construction to `close`."""

    def __init__(self, fx: Optional[FxPass] = None, units: Optional[UnitsPass] = None) -> None:
        self._saved = (config.post_grad_custom_post_pass, config._post_fusion_custom_pass)
        self._own: tuple[Any, Any] = self._saved
        if fx is not None:
            config.post_grad_custom_post_pass = _FxHook(fx, self._saved[0])
        if units is not None:
            config._post_fusion_custom_pass = _UnitsHook(units, self._saved[1])
        self._own = (config.post_grad_custom_post_pass, config._post_fusion_custom_pass)

    def close(self) -> None:
        if (config.post_grad_custom_post_pass, config._post_fusion_custom_pass) != self._own:
            log.warning("other custom passes were installed over the bridge's; close them first")
        config.post_grad_custom_post_pass, config._post_fusion_custom_pass = self._saved
