"""The whole loop on two ranks with gloo: compile, capture, schedule with gatherscope-cli, run with the schedule."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Sequence

import torch

from gatherscope_bridge import graph_json, structural_hash
from gatherscope_bridge.schedule import resolve

from support import CLI, export_schedule

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 900
COLLECTIVES = ("_c10d_functional.",)
# Name, model, level, scheduler and options.
EXPORTS = (
    ("two-sided", "plain", "fx", "two-sided"),
    ("sweep", "plain", "fx", "latest-safe-launch"),
    ("buckets", "plain", "fx", "just-in-time", "--set", "bucket_mode=coalesced", "--set", "bucket_cap_mib=0.02"),
    ("merged", "plain", "fx", "just-in-time", "--set", "bucket_mode=fsdp"),
    ("scheduler's buckets", "plain", "fx", "overlap-scheduler", "--set", "collective_bucketing=true"),
    ("mixed buckets", "mixed", "fx", "overlap-scheduler", "--set", "collective_bucketing=true"),
    ("units", "plain", "scheduler", "latest-safe-launch"))
EXPORTS_BY_RANK = (("uneven", "two-sided"), ("uneven merged", "two-sided", "--set", "bucket_mode=fsdp"))


def run_ranks(plan: dict[str, Any], folder: str) -> list[list[dict[str, Any]]]:
    """Runs both ranks; a hang is a failure after TIMEOUT_S."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    plan["results"] = os.path.join(folder, "results")
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    processes, logs = [], []
    for rank in range(2):
        env = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": f"{HERE.parent}:{HERE}"}
        logs.append(open(os.path.join(folder, f"log.rank{rank}"), "w+", encoding="utf-8"))
        processes.append(subprocess.Popen([sys.executable, str(HERE / "worker.py"), path], env=env, cwd=folder,
                                          stdout=logs[-1], stderr=subprocess.STDOUT))
    try:
        codes = [process.wait(TIMEOUT_S) for process in processes]
    except subprocess.TimeoutExpired:
        codes = [-1, -1]
    finally:
        for process in processes:
            process.kill()
    texts = []
    for log in logs:
        log.seek(0)
        texts.append(log.read())
        log.close()
    if codes != [0, 0]:
        raise AssertionError(f"the ranks ended with {codes}:\n" + "\n".join(text[-6000:] for text in texts))
    return [json.loads(pathlib.Path(f"{plan['results']}.rank{rank}.json").read_text("utf-8")) for rank in range(2)]


def evaluated(document: dict[str, Any], schedule: dict[str, Any]) -> dict[str, Any]:
    """Shapes of all nodes; those of nodes that passes made by running them without data."""
    def tensor(value: Any) -> Any:
        if isinstance(value, list):
            return [tensor(item) for item in value]
        return torch.empty(value["shape"], dtype=getattr(torch, value["dtype"]), device="meta") if value and "shape" in value else None

    def argument(item: Any) -> Any:
        if isinstance(item, list):
            return [argument(child) for child in item]
        if isinstance(item, dict):
            return values[item["n"]] if "n" in item else getattr(torch, item["dtype"]) if "dtype" in item else "meta"
        return item

    values = {node["name"]: tensor(node["val"]) for node in document["nodes"]}
    calls = {call["name"]: call for call in schedule["rewritten"]}
    for name, position in zip(schedule["order"], schedule["positions"]):
        if position < 0:
            call = calls[name]
            values[name] = resolve(call["target"])(*argument(call["args"]), **{k: argument(v) for k, v in call["kwargs"].items()})
    return {name: list(value.shape) if isinstance(value, torch.Tensor) else None for name, value in values.items()}


def expected(document: dict[str, Any], schedule: dict[str, Any]) -> list[tuple[str, Any]]:
    """Collectives and waits in the exported order, with the shape of their first argument. A coalesced gather shows
    no shape in a trace."""
    nodes = {node["name"]: node for node in document["nodes"]}
    shapes = evaluated(document, schedule)
    nodes.update({call["name"]: call for call in schedule["rewritten"]})
    found = []
    for name in schedule["order"]:
        node = nodes[name]
        if not node["target"].startswith(COLLECTIVES) or node["op"] != "call_function":
            continue
        argument = node["args"][0]
        if "wait_tensor" in node["target"] and schedule["level"] == "scheduler":
            shape = shapes[next(n for n in node["inputs"] if "collective" in nodes[n]["tags"] or "getitem" in nodes[n]["target"])]
        elif "wait_tensor" in node["target"]:
            shape = shapes[name]
        else:
            shape = shapes.get(argument["n"]) if isinstance(argument, dict) else None
        found.append((node["target"].split(".")[1], shape))
    return found


def traced(operators: list[list[Any]]) -> list[tuple[str, Any]]:
    found = []
    for name, shapes in operators:
        if name.startswith("_c10d_functional::"):
            packet = name.split("::")[1].removesuffix("_")  # Inductor reduces in place where it can
            found.append((packet, None if "coalesced" in packet else shapes[0]))
    return found


@unittest.skipUnless(CLI, "GATHERSCOPE_CLI is not set")
class Loop(unittest.TestCase):
    """All scenarios share two runs of the ranks: one captures, one applies what gatherscope-cli made of it."""

    folder: str
    schedules: dict[str, list[list[tuple[dict[str, Any], dict[str, Any]]]]]  # by rank: the graphs and their schedules
    outcomes: dict[str, list[dict[str, Any]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls._temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._temporary.cleanup)
        cls.folder = cls._temporary.name
        cls.schedules, cls.outcomes = {}, {}
        cls.run_steps([step for model in ("plain", "uneven", "mixed") for step in (
            {"name": f"{model} reference", "kind": "reference", "model": model},
            {"name": f"{model} capture", "kind": "capture", "folder": cls.path(f"{model} graphs"), "model": model})])
        for name, model, level, *options in EXPORTS:
            cls.export(f"{model} graphs", name, level, options)
        for name, *options in EXPORTS_BY_RANK:
            cls.export_by_rank("uneven graphs", name, options)
        shutil.copytree(cls.path("uneven"), cls.path("one rank's"),
                        ignore=lambda _, names: [name for name in names if "rank1" in name])
        cls.run_steps(cls.steps())
        cls.export("bucket units", "buckets in order", "scheduler", ["latest-safe-launch"])
        shutil.copytree(cls.path("buckets"), cls.path("buckets in order"), dirs_exist_ok=True,
                        ignore=lambda _, names: [name for name in names if ".fx." not in name])
        cls.run_steps([{"name": "plain reference", "kind": "reference"},
                       {"name": "buckets in order", "kind": "apply", "folder": cls.path("buckets in order")}])

    @classmethod
    def path(cls, name: str) -> str:
        return os.path.join(cls.folder, name)

    @classmethod
    def steps(cls) -> list[dict[str, Any]]:
        path = cls.path
        steps: list[dict[str, Any]] = [{"name": f"{model} reference", "kind": "reference", "model": model}
                                       for model in ("plain", "extra", "uneven", "mixed")]
        steps += [{"name": name, "kind": "apply", "folder": path(name), "model": model} for name, model, *_ in EXPORTS]
        next(step for step in steps if step["name"] == "buckets")["capture"] = path("bucket units")
        steps += [{"name": name, "kind": "apply", "folder": path(name), "model": "uneven"}
                  for name in ("uneven", "uneven merged", "one rank's")]
        return steps + [
            {"name": "changed", "kind": "apply", "folder": path("two-sided"), "model": "extra"},
            {"name": "two orders", "kind": "apply", "folders": [path("two-sided"), path("sweep")]},
            {"name": "disagree", "kind": "apply", "folders": [path("buckets"), path("scheduler's buckets")]},
            # Last: from here on rank 0 has installed once more than rank 1.
            {"name": "silent", "kind": "apply", "folder": path("two-sided"), "ranks": [0], "timeout_s": 3}]

    @classmethod
    def run_steps(cls, steps: list[dict[str, Any]]) -> None:
        ranks = run_ranks({"steps": steps}, cls.folder)
        for index, step in enumerate(steps):
            cls.outcomes[step["name"]] = [rank[index] for rank in ranks]

    @classmethod
    def export(cls, graphs: str, name: str, level: str, options: Sequence[str]) -> None:
        """Schedules of rank 0's graphs for both ranks, which have the same program."""
        made = []
        os.makedirs(cls.path(name))
        for file in sorted(pathlib.Path(cls.path(graphs)).glob(f"*.{level}.rank0.json")):
            out = os.path.join(cls.path(name), file.name)
            made.append((graph_json.read(str(file)), export_schedule(str(file), out, *options)))
        cls.schedules[name] = [made, made]

    @classmethod
    def export_by_rank(cls, graphs: str, name: str, options: Sequence[str]) -> None:
        """A schedule of each rank's own graphs, made to fit the other rank's, in one folder."""
        os.makedirs(cls.path(name))
        cls.schedules[name] = [[], []]
        for rank in range(2):
            for file in sorted(pathlib.Path(cls.path(graphs)).glob(f"*.fx.rank{rank}.json")):
                other = str(file).replace(f".rank{rank}.", f".rank{1 - rank}.")
                out = os.path.join(cls.path(name), file.name)
                cls.schedules[name][rank].append((graph_json.read(str(file)), export_schedule(
                    str(file), out, *options, "--rank-file", other)))

    def check_run(self, name: str) -> None:
        for rank in self.outcomes[name]:
            self.assertTrue(rank["bit_equal"], f"{name}: outputs or gradients differ")
            self.assertEqual(rank["unwaited"], 0)
            launches = [op for op, _ in traced(rank["operators"]) if op != "wait_tensor"]
            self.assertGreater(len(launches), 0)

    def check_applied(self, name: str, levels: Sequence[str] = ()) -> None:
        self.check_run(name)
        for rank, made in zip(self.outcomes[name], self.schedules[name]):
            self.assertEqual([result["applied"] for result in rank["results"]], [True] * max(2, len(levels)), rank["results"])
            if levels:
                self.assertEqual([result["level"] for result in rank["results"]], levels)
            order = [item for document, schedule in made for item in expected(document, schedule)]
            self.assertEqual(traced(rank["operators"]), order)

    def check_refused(self, name: str, reason: str) -> None:
        self.check_run(name)
        for rank in self.outcomes[name]:
            for result in rank.get("results", []):
                self.assertFalse(result["applied"])
                self.assertIn(reason, result["reason"])

    def test_capture_changes_nothing(self) -> None:
        self.check_run("plain capture")
        for rank in self.outcomes["plain capture"]:
            self.assertEqual(len(rank["files"]), 4)  # two graphs, two levels

    def test_hashes_are_those_of_the_program(self) -> None:
        for ranks in self.schedules.values():
            for document, schedule in (*ranks[0], *ranks[1]):
                self.assertEqual(structural_hash(document), schedule["structural_hash"]["source"])

    def test_schedules_move_something(self) -> None:
        for name in ("two-sided", "sweep", "units"):
            document, schedule = self.schedules[name][0][0]
            self.assertNotEqual(schedule["order"], [node["name"] for node in document["nodes"]])
        self.assertTrue(self.schedules["buckets"][0][0][1]["rewritten"])

    def test_fx_schedule(self) -> None:
        self.check_applied("two-sided")

    def test_sweep(self) -> None:
        self.check_applied("sweep")

    def test_matmuls_are_where_the_schedule_has_them(self) -> None:
        """Not only the collectives among themselves: what computes between them, too."""
        forward, schedule = self.schedules["two-sided"][0][0]
        nodes = {node["name"]: node for node in forward["nodes"]}
        order = [nodes[name]["target"].split(".")[1] for name in schedule["order"]
                 if nodes[name]["target"].startswith(("_c10d_functional.", "aten.mm."))]
        for rank in self.outcomes["two-sided"]:
            self.assertEqual([name.split("::")[1] for name, _ in rank["operators"]][:len(order)], order)

    def test_coalesced_buckets(self) -> None:
        self.check_applied("buckets")
        names = [name for name, _ in traced(self.outcomes["buckets"][0]["operators"])]
        self.assertIn("all_gather_into_tensor_coalesced", names)
        self.assertNotIn("all_gather_into_tensor", names)

    def test_merged_buckets(self) -> None:
        """Gathers into one buffer, of which every rank fills another part, though rank 0's schedule is for both."""
        self.check_applied("merged")
        names = [name for name, _ in traced(self.outcomes["merged"][0]["operators"])]
        self.assertEqual(names.count("all_gather_into_tensor_out"), 1)
        self.assertNotIn("all_gather_into_tensor", names)

    def test_buckets_of_a_scheduler(self) -> None:
        self.check_applied("scheduler's buckets")
        names = [name for name, _ in traced(self.outcomes["scheduler's buckets"][0]["operators"])]
        self.assertLess(names.count("reduce_scatter_tensor"), 5)
        self.assertIn("all_gather_into_tensor_out", names)

    def test_buckets_of_several_kinds(self) -> None:
        """Gathers with the casts in front of them, reduce-scatters and all-reduces."""
        self.check_applied("mixed buckets")
        names = [name for name, _ in traced(self.outcomes["mixed buckets"][0]["operators"])]
        before = [node["target"] for document, _ in self.schedules["mixed buckets"][0] for node in document["nodes"]]
        self.assertIn("all_gather_into_tensor_out", names)
        for kind in ("reduce_scatter_tensor", "all_reduce"):
            self.assertLess(names.count(kind), before.count(f"_c10d_functional.{kind}.default"))

    def test_scheduler_level(self) -> None:
        self.check_applied("units")

    def test_units_of_buckets(self) -> None:
        """A schedule of the units cannot make buckets, but it orders those that one of the fx level made."""
        self.check_applied("buckets in order", ["fx", "scheduler"] * 2)

    def test_changed_graph_is_refused(self) -> None:
        self.check_refused("changed", "no schedule for the graph")

    def test_other_orders_of_the_same_collectives_run_together(self) -> None:
        self.check_run("two orders")
        for rank, outcome in enumerate(self.outcomes["two orders"]):
            made = self.schedules[("two-sided", "sweep")[rank]][rank]
            self.assertEqual([result["applied"] for result in outcome["results"]], [True, True], outcome["results"])
            self.assertEqual(traced(outcome["operators"]), [item for pair in made for item in expected(*pair)])

    def test_ranks_with_other_graphs(self) -> None:
        """Uneven shards: one rank pads, the other does not. Each runs the schedule of its own graph."""
        hashes = [[document and structural_hash(document) for document, _ in made] for made in self.schedules["uneven"]]
        self.assertFalse(set(hashes[0]) & set(hashes[1]))
        self.check_applied("uneven")

    def test_merged_buckets_of_ranks_with_other_graphs(self) -> None:
        self.check_applied("uneven merged")
        for rank in self.outcomes["uneven merged"]:
            self.assertIn("all_gather_into_tensor_out", [name for name, _ in traced(rank["operators"])])

    def test_a_rank_without_a_schedule_for_its_graph(self) -> None:
        self.check_refused("one rank's", "rank 1: no schedule for the graph")

    def test_ranks_that_disagree_are_refused(self) -> None:
        self.check_refused("disagree", "differs from rank 0 in its collectives")
        for rank in self.outcomes["disagree"]:
            self.assertEqual(len(rank["results"]), 2)

    def test_silent_rank_is_refused_in_time(self) -> None:
        self.check_refused("silent", "rank 1 did not vote within 3 s")
        self.assertLess(self.outcomes["silent"][0]["seconds"], 120)


if __name__ == "__main__":
    unittest.main()
