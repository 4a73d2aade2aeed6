"""One rank of the loop test: `python worker.py PLAN.json` with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.

The plan lists scenarios; the outcome of each goes to `RESULTS.rankR.json`, tensors stay here: they are compared bit for
bit with the run that knows nothing of the bridge.
"""
from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from typing import Any, Callable

import torch
import torch._functorch.config
import torch.distributed as dist

import gatherscope_bridge
import simple_fsdp

WATCHED = ("_c10d_functional::", "aten::mm", "aten::addmm")


def compiled(kind: str) -> tuple[Any, Any]:
    torch._dynamo.reset()
    model = simple_fsdp.build(dist.get_world_size(), kind)
    return model, torch.compile(model, fullgraph=True)


def equal(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b))


def operators(run: Callable[[], Any]) -> list[list[Any]]:
    """Names and shapes of the collectives, waits and matmuls of a run, in order."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        run()
    events = sorted((e for e in profile.events() if e.name.startswith(WATCHED)), key=lambda e: e.time_range.start)
    return [[event.name, event.input_shapes] for event in events]


def unwaited() -> int:
    """Collectives that nobody waited for, as far as this torch counts them."""
    count = getattr(torch._C._distributed_c10d, "_get_work_registry_size", None)
    return int(count()) if count else 0


def scenario(step: dict[str, Any], reference: dict[str, list[torch.Tensor]]) -> dict[str, Any]:
    rank = dist.get_rank()
    model_kind = step.get("model", "plain")
    model, run = compiled(model_kind)
    began = time.monotonic()
    outcome: dict[str, Any] = {"name": step["name"]}
    if step["kind"] == "reference":
        reference[model_kind] = simple_fsdp.train(model, run, rank)
        return outcome
    if step["kind"] == "capture":
        with gatherscope_bridge.Recorder(step["folder"], levels=("fx", "scheduler"), model="loop test") as recorder:
            got = simple_fsdp.train(model, run, rank)
        outcome["files"] = [os.path.basename(file) for file in recorder.files]
    elif rank in step.get("ranks", (0, 1)):
        folder = step["folders"][rank] if "folders" in step else step["folder"]
        with contextlib.ExitStack() as stack:
            if "capture" in step:  # outside: it sees the units before they are tied to their order
                stack.enter_context(gatherscope_bridge.Recorder(step["capture"], levels=("scheduler",)))
            bridge = stack.enter_context(gatherscope_bridge.install(folder, timeout_s=step.get("timeout_s", 60)))
            got = simple_fsdp.train(model, run, rank)
        outcome["results"] = [vars(result) for result in bridge.results]
    else:
        got = simple_fsdp.train(model, run, rank)
    outcome["seconds"] = time.monotonic() - began
    outcome["bit_equal"] = equal(got, reference[model_kind])
    outcome["operators"] = operators(lambda: simple_fsdp.train(model, run, rank, 1))
    outcome["unwaited"] = unwaited()
    return outcome


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    logging.basicConfig(level=logging.INFO)
    torch.set_num_threads(1)
    # Its key has the whole shapes of DTensors only: a rank would load the graph of one with another shard.
    torch._functorch.config.enable_autograd_cache = False
    dist.init_process_group("gloo")
    reference: dict[str, list[torch.Tensor]] = {}
    outcomes = [scenario(step, reference) for step in plan["steps"]]
    dist.barrier()
    with open(f"{plan['results']}.rank{dist.get_rank()}.json", "w", encoding="utf-8") as file:
        json.dump(outcomes, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
