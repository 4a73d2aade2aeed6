"""Times torch's own overlap scheduler on one corpus graph with the costs of one table.

usage: python peer_scheduler.py GRAPH.json[.gz] COSTS.json[.gz]

Prints the median in seconds. The graph is rebuilt as an fx graph whose values are fake tensors; groups are those
of a fake process group. Durations come from the table, so that no GPU is needed; what has none costs nothing.
"""

import gzip
import json
import logging
import operator
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.fx as fx
from torch._inductor.fx_passes.overlap_scheduling import schedule_overlap_bucketing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.distributed.fake_pg import FakeStore


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        return json.load(file)


def make_groups(graph):
    world = max([graph["source"].get("world_size") or 1] + [len(g["ranks"]) for g in graph["groups"].values()])
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world)
    for name, group in graph["groups"].items():
        if group["ranks"] and max(group["ranks"]) < world:
            made = dist.new_group(group["ranks"])
        else:
            made = dist.group.WORLD
        try:
            torch._C._distributed_c10d._register_process_group(name, made)
        except RuntimeError:
            pass  # the world's own name


def find_target(text):
    if text.startswith("operator."):
        return getattr(operator, text.split(".", 1)[1])
    if text.startswith("torch."):
        at = torch
        for part in text.split(".")[1:]:
            at = getattr(at, part)
        return at
    if text.startswith("higher_order."):
        return getattr(torch.ops.higher_order, text.split(".", 1)[1])
    at = torch.ops
    for part in text.split("."):
        at = getattr(at, part)
    return at


def number(dim):
    if isinstance(dim, dict):
        return 1 if dim["hint"] is None else dim["hint"]
    return dim


def value(val):
    if isinstance(val, list):
        return [value(item) for item in val]
    if not isinstance(val, dict):
        return val
    if "sym" in val:
        return number(val)
    if "dtype" not in val:
        return None
    shape = [number(dim) for dim in val["shape"]]
    dtype = getattr(torch, val["dtype"])
    if val.get("stride") is None:
        return torch.empty(shape, dtype=dtype, device=val["device"])
    stride = [number(dim) for dim in val["stride"]]
    return torch.empty_strided(shape, stride, dtype=dtype, device=val["device"])


def argument(arg, nodes):
    if isinstance(arg, list):
        return [argument(item, nodes) for item in arg]
    if not isinstance(arg, dict):
        return arg
    if "n" in arg:
        return nodes[arg["n"]]
    if "dict" in arg:
        return {key: argument(item, nodes) for key, item in arg["dict"].items()}
    if "slice" in arg:
        return slice(*(argument(item, nodes) for item in arg["slice"]))
    for key in ("dtype", "layout", "memory_format"):
        if key in arg:
            return getattr(torch, arg[key])
    if "device" in arg:
        return torch.device(arg["device"])
    if "sym" in arg:
        return number(arg)
    return float(arg["float"]) if "float" in arg else None


def build(data, mode):
    graph = fx.Graph()
    nodes = {}
    for row in data["nodes"]:
        args = tuple(argument(item, nodes) for item in row["args"])
        kwargs = {key: argument(item, nodes) for key, item in row["kwargs"].items()}
        target = row["target"] if row["op"] != "call_function" else find_target(row["target"])
        node = graph.create_node(row["op"], target, args, kwargs, name=row["name"])
        with mode:
            node.meta["val"] = value(row["val"])
        nodes[row["name"]] = node
    return fx.GraphModule(torch.nn.Module(), graph)


def main():
    logging.disable(logging.WARNING)  # a line per node would count as its time
    data, costs = read(sys.argv[1]), read(sys.argv[2])["nodes"]
    make_groups(data)
    mode = FakeTensorMode()
    times = []
    for _ in range(3):
        module = build(data, mode)
        begin = time.perf_counter()
        schedule_overlap_bucketing(
            module,
            collective_bucketing=False,
            insert_overlap_deps=False,
            custom_runtime_estimation=lambda node, _: costs.get(node.name, 0) / 1e6,
            collective_estimator="analytical",
            compute_estimator="analytical",
            max_memory_increase_gb=None,
            max_memory_increase_ratio=None,
            pre_bucketing_fsdp_collectives=False,
        )
        times.append(time.perf_counter() - begin)
        if times[0] > 20:
            break
    print(statistics.median(times))


main()
