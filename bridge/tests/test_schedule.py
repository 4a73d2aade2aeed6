"""Schedules that fit a graph, and every way in which one does not."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
import unittest
from typing import Any
from unittest import mock

import torch
from torch.fx.experimental.proxy_tensor import make_fx

import gatherscope_bridge
from gatherscope_bridge import Schedule, ScheduleError, apply, graph_json, structural_hash
from gatherscope_bridge.fx_plan import FxPlan
from gatherscope_bridge.ranks import agree

from support import CLI, export_schedule


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    a = x.sin()
    b = y.cos()
    return (a + b).sum()


def traced() -> torch.fx.GraphModule:
    return make_fx(program, tracing_mode="fake")(torch.ones(3), torch.ones(3))


def schedule_of(graph: torch.fx.Graph, order: list[int], **changes: Any) -> dict[str, Any]:
    """A schedule file as Gatherscope writes it."""
    document = graph_json.graph_json(graph)
    after = {**document, "nodes": [document["nodes"][p] for p in order]}
    return {"format": "gatherscope.schedule", "version": 1, "level": "fx",
            "structural_hash": {"source": structural_hash(document), "after": structural_hash(after)},
            "order": [node["name"] for node in after["nodes"]], "positions": order, "rewritten": [], "moves": [], **changes}


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.good = schedule_of(traced().graph, list(range(7)))

    def write(self, data: Any, name: str = "s.json") -> str:
        path = pathlib.Path(self.folder.name, name)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(path)

    def refused(self, data: Any, reason: str) -> None:
        with self.assertRaisesRegex(ScheduleError, reason):
            Schedule.read(self.write(data))

    def test_good(self) -> None:
        self.assertEqual(Schedule.read(self.write(self.good)).order, self.good["order"])

    def test_bad(self) -> None:
        self.refused("{", "s.json")
        self.refused({**self.good, "format": "other"}, "not a gatherscope.schedule")
        self.refused({**self.good, "version": 2}, "version 1")
        self.refused({key: self.good[key] for key in self.good if key != "positions"}, "positions.* is missing")
        self.refused({**self.good, "positions": [0, 0, 2, 3, 4, 5, 6]}, "distinct")
        self.refused({**self.good, "positions": [0, 1, 2, 3, 4, 5]}, "distinct")
        self.refused({**self.good, "positions": [0, 1, -1, 3, 4, 5, 6]}, "call of .* is missing")
        self.refused({**self.good, "level": "llvm"}, "level")
        self.refused({**self.good, "level": "scheduler", "rewritten": [
            {"name": "sin", "target": "aten.sin.default", "args": [], "kwargs": {}}]}, "kernels cannot be made")

    def test_types(self) -> None:
        """Every field is named that has another type than it should; True and 1.5 are no positions."""
        good, call, move = self.good, {"name": "sin", "target": "aten.sin.default", "args": [], "kwargs": {}}, {
            "launch": "sin", "from": 2, "to": 3, "verdict": "HIDDEN"}
        Schedule.read(self.write({**good, "moves": [move]}))
        for field, value, name in (
                ("structural_hash", "abc", "structural_hash is not an object"),
                ("structural_hash", {"source": 5, "after": ""}, r"structural_hash\.source is not a text"),
                ("positions", ["a"] * 7, r"positions\[0\] is not a whole number"),
                ("positions", None, "positions is not a list"),
                ("positions", [0, True, 2, 3, 4, 5, 6], r"positions\[1\] is not"),
                ("positions", [0, 1.5, 2, 3, 4, 5, 6], r"positions\[1\] is not"),
                ("positions", [0, -2, 2, 3, 4, 5, 6], "below -1"),
                ("order", 5, "order is not a list"), ("level", [], "level is not a text"), ("version", True, "version 1"),
                ("moves", [{"x": 1}], r"moves\[0\]\.launch is missing"), ("moves", {}, "moves is not a list"),
                ("moves", [{**move, "from": "2"}], r"moves\[0\]\.from is not a whole number"),
                ("rewritten", [1], r"rewritten\[0\] is not an object"),
                ("rewritten", [{**call, "target": 5}], r"rewritten\[0\]\.target is not a text"),
                ("rewritten", [{**call, "kwargs": []}], r"rewritten\[0\]\.kwargs is not an object"),
                ("rewritten", [{**call, "args": [2**70]}], "64 bits"),
                ("rewritten", [call, call], "same name"), ("rewritten", [{**call, "name": "none"}], "not in the order")):
            with self.subTest(field=field, value=value):
                self.refused({**good, field: value}, f"s.json: .*{name}")

    def test_files_that_are_no_json(self) -> None:
        self.refused([1, 2], "s.json: not a gatherscope.schedule")
        self.refused("[" * 100000, "s.json: nested too deeply")
        self.refused({**self.good, "settings": json.loads("[" * 70 + "]" * 70)}, "s.json: nested too deeply")
        path = pathlib.Path(self.folder.name, "b.json")
        path.write_bytes(b"\xff\xfe\x00")
        with self.assertRaisesRegex(ScheduleError, "b.json: .*utf-8"):
            Schedule.read(str(path))

    def test_digest(self) -> None:
        """Ranks of HSDP name their groups differently; sizes, operators and order must be the same."""
        def digest(group: str, size: int = 2, order: Any = None) -> str:
            call = {"name": "g", "target": "_c10d_functional.all_gather_into_tensor.default", "kwargs": {},
                    "args": [{"n": "x"}, size, group]}
            return Schedule("", "fx", "", "", ["x", "g"], order or [0, -1], {"g": call}).digest()

        self.assertEqual(digest("3"), digest("4"))
        self.assertNotEqual(digest("3"), digest("3", 4))
        self.assertNotEqual(digest("3"), digest("3", order=[1, -1]))

    def test_no_file(self) -> None:
        with self.assertRaises(ScheduleError):
            gatherscope_bridge.load(os.path.join(self.folder.name, "none.json"))
        with self.assertRaisesRegex(ScheduleError, "no schedule"):
            gatherscope_bridge.load(self.folder.name)

    def test_two_orders_of_one_graph(self) -> None:
        self.write(self.good, "a.json")
        self.write(schedule_of(traced().graph, [0, 1, 3, 2, 4, 5, 6]), "b.json")
        with self.assertRaisesRegex(ScheduleError, "differently"):
            gatherscope_bridge.install(self.folder.name)

    def test_options_that_would_undo_it(self) -> None:
        from torch._inductor import config
        path = self.write(self.good)
        with config.patch(reorder_for_compute_comm_overlap=True), self.assertRaisesRegex(ScheduleError, "turn off"):
            gatherscope_bridge.install(path)
        with config.patch(bucket_all_gathers_fx="all"), self.assertRaisesRegex(ScheduleError, "bucket_all_gathers_fx"):
            gatherscope_bridge.install(path)
        with gatherscope_bridge.install(path):
            self.assertIsNotNone(config.post_grad_custom_post_pass)
        self.assertIsNone(config.post_grad_custom_post_pass)


class Plans(unittest.TestCase):
    def setUp(self) -> None:
        self.module = traced()
        self.graph = self.module.graph
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = str(self.graph)

    def plan(self, data: dict[str, Any]) -> FxPlan:
        path = pathlib.Path(self.folder.name, "s.json")
        path.write_text(json.dumps(data))
        return FxPlan(Schedule.read(str(path)), self.graph, graph_json.graph_json(self.graph))

    def refused(self, data: dict[str, Any], reason: str) -> None:
        with self.assertRaisesRegex(ScheduleError, reason):
            self.plan(data)
        self.assertEqual(str(self.graph), self.before)

    def test_order(self) -> None:
        order = [0, 1, 3, 2, 4, 5, 6]
        data = schedule_of(self.graph, order)
        moved = self.plan(data).commit()
        self.assertEqual([node.name for node in self.graph.nodes], data["order"])
        self.assertEqual(structural_hash(graph_json.graph_json(self.graph)), data["structural_hash"]["after"])
        self.assertGreater(moved, 0)
        self.module.recompile()
        self.assertEqual(self.module(torch.ones(3), torch.zeros(3)), program(torch.ones(3), torch.zeros(3)))

    def test_a_plan_that_is_dropped_leaves_nothing(self) -> None:
        self.plan(schedule_of(self.graph, [0, 1, 3, 2, 4, 5, 6])).drop()
        self.assertEqual(str(self.graph), self.before)

    def test_order_against_an_argument(self) -> None:
        data = schedule_of(self.graph, [0, 1, 2, 4, 3, 5, 6])
        data["structural_hash"]["after"] = structural_hash(
            {"nodes": [graph_json.graph_json(self.graph)["nodes"][p] for p in data["positions"]]})
        self.refused(data, "would run before cos")

    def test_order_that_is_not_the_one_it_says(self) -> None:
        data = schedule_of(self.graph, [0, 1, 3, 2, 4, 5, 6])
        data["structural_hash"]["after"] = "0" * 16
        self.refused(data, "does not give the graph")
        data = schedule_of(self.graph, [0, 1, 2, 3, 4, 5, 6])
        data["order"].pop(), data["positions"].pop()
        self.refused(data, "does not give the graph")

    def rewritten(self, call: dict[str, Any]) -> dict[str, Any]:
        """sin is replaced by another call."""
        data = schedule_of(self.graph, list(range(7)))
        data["order"][2], data["positions"][2] = "made", -1
        data["rewritten"] = [{"name": "made", "op": "call_function", "kwargs": {}, **call},
                             {"name": "add", "op": "call_function", "target": "aten.add.Tensor",
                              "args": [{"n": "made"}, {"n": data["order"][3]}], "kwargs": {}}]
        return data

    def test_new_nodes(self) -> None:
        first = next(iter(self.graph.nodes)).name
        self.plan(self.rewritten({"target": "aten.tan.default", "args": [{"n": first}]})).commit()
        targets = [str(node.target) for node in self.graph.nodes]
        self.assertIn("aten.tan.default", targets)
        self.assertNotIn("aten.sin.default", targets)
        made = next(node for node in self.graph.nodes if str(node.target) == "aten.tan.default")
        self.assertEqual(tuple(made.meta["val"].shape), (3,))
        self.module.recompile()
        self.assertTrue(torch.allclose(self.module(torch.ones(3), torch.zeros(3)), torch.ones(3).tan().sum() + 3))

    def test_new_nodes_that_cannot_be(self) -> None:
        first = next(iter(self.graph.nodes)).name
        self.refused(self.rewritten({"target": "aten.no_such_operator.default", "args": []}), "cannot make a node")
        self.refused(self.rewritten({"target": "os.system", "args": ["true"]}), "cannot make a node")
        self.refused(self.rewritten({"target": "aten.copy_.default", "args": []}), "did not make")
        self.refused(self.rewritten({"target": "aten.tan.default", "args": [{"n": "nobody"}]}), "does not have")
        self.refused(self.rewritten({"target": "aten.tan.default", "args": [{"sym": "s0", "hint": 3}]}), "cannot be made")
        with self.assertRaises(Exception):
            self.plan(self.rewritten({"target": "aten.tan.default", "args": [{"n": first}, 1, 2, 3]}))
        self.assertEqual(str(self.graph), self.before)

    def test_inputs_stay(self) -> None:
        """A graph is called with its inputs by place."""
        self.refused(schedule_of(self.graph, [1, 0, 2, 3, 4, 5, 6]), "placeholders would not be")
        data = schedule_of(self.graph, [0, 2, 4, 5, 6])
        sine = {"n": data["order"][1]}
        data["rewritten"] = [{"name": "add", "target": "aten.add.Tensor", "args": [sine, sine], "kwargs": {}}]
        self.refused(data, "placeholders would not be")

    @unittest.skipUnless(CLI, "GATHERSCOPE_CLI is not set")
    def test_round_trip(self) -> None:
        """A schedule read back gives the order that was exported."""
        path = os.path.join(self.folder.name, "g.json")
        graph_json.write(graph_json.graph_json(self.graph), path)
        data = export_schedule(path, os.path.join(self.folder.name, "e.json"), "program-order", "--edit",
                               "move:cos:sin")
        self.assertLess(data["order"].index("cos"), data["order"].index("sin"))
        FxPlan(Schedule.read(os.path.join(self.folder.name, "e.json")), self.graph, graph_json.graph_json(self.graph)).commit()
        self.assertEqual([node.name for node in self.graph.nodes], data["order"])
        self.assertEqual(structural_hash(graph_json.graph_json(self.graph)), data["structural_hash"]["after"])


def gather(x: torch.Tensor) -> torch.Tensor:
    ops = torch.ops._c10d_functional
    return ops.wait_tensor.default(ops.all_gather_into_tensor.default(x.sin(), 2, "0")) + 1


class Failures(unittest.TestCase):
    """Whatever fails on a rank, it votes, says why, and leaves the graph: the others would wait for it."""

    def setUp(self) -> None:
        self.graph = make_fx(gather, tracing_mode="fake")(torch.ones(4)).graph
        self.before = str(self.graph)
        self.votes: list[dict[str, Any]] = []
        self.patch("agree", lambda topic, vote, timeout_s: self.votes.append(vote) or agree(topic, vote, timeout_s))

    def patch(self, name: str, value: Any, module: Any = apply) -> None:
        patch = mock.patch.object(module, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def schedule(self, level: str, document: dict[str, Any]) -> Schedule:
        names = [node["name"] for node in document["nodes"]]
        found = structural_hash(document)
        return Schedule("s.json", level, found, found, names, list(range(len(names))), {})

    def left(self, bridge: apply.Bridge, reason: str) -> None:
        self.assertEqual([result.applied for result in bridge.results], [False])
        self.assertIn(reason, bridge.results[0].reason)
        self.assertEqual([reason in vote["refused"] for vote in self.votes], [True])

    def test_fx(self) -> None:
        schedule = self.schedule("fx", graph_json.graph_json(self.graph))
        for name in ("graph_json", "sequence", "structural_hash", "FxPlan"):
            with self.subTest(name), apply.Bridge([schedule]) as bridge:
                self.votes.clear()
                with mock.patch.object(apply, name, side_effect=RecursionError("broken")):
                    bridge._fx(self.graph)
                self.left(bridge, "broken")
                self.assertEqual(str(self.graph), self.before)
        with apply.Bridge([schedule]) as bridge:
            bridge._fx(self.graph)
        self.assertTrue(bridge.results[0].applied)

    def test_a_graph_without_collectives_is_not_even_read(self) -> None:
        with apply.Bridge([self.schedule("fx", graph_json.graph_json(self.graph))]) as bridge, mock.patch.object(
                apply, "graph_json", side_effect=RuntimeError("broken")):
            bridge._fx(traced().graph)
        self.assertEqual((bridge.results, self.votes), ([], []))

    def test_a_graph_that_is_not_well_formed(self) -> None:
        """What `commit` would stumble over is found before the vote."""
        schedule = self.schedule("fx", graph_json.graph_json(self.graph))
        with apply.Bridge([schedule]) as bridge, mock.patch.object(self.graph, "lint", side_effect=RuntimeError("not well")):
            bridge._fx(self.graph)
        self.left(bridge, "not well")

    def units_schedule(self) -> Schedule:
        node = {"args": [], "kwargs": {}, "val": None, "target": "x", "tags": []}
        document = {"level": "scheduler", "groups": {}, "nodes": [
            {**node, "name": "x", "op": "placeholder"}, {**node, "name": "u", "op": "call_function"},
            {**node, "name": "output", "op": "output"}]}
        self.patch("is_launch", lambda unit: True)
        self.patch("scheduler_json", lambda units: document)
        self.patch("broken_edge", lambda units, order: None, apply.unit_order)
        self.patch("scheduled", lambda units: False, apply.unit_order)
        return self.schedule("scheduler", document)

    def test_scheduler(self) -> None:
        schedule = self.units_schedule()
        for module, name in ((apply.unit_order, "scheduled"), (apply, "is_launch"), (apply, "scheduler_json"),
                             (apply.unit_order, "broken_edge"), (apply.unit_order, "tied"), (apply, "sequence")):
            with self.subTest(name), apply.Bridge([schedule]) as bridge, mock.patch.object(
                    apply.unit_order, "tied", lambda units, order: []):
                self.votes.clear()
                with mock.patch.object(module, name, side_effect=RuntimeError("broken")):
                    self.assertEqual(bridge._units(["u"]), ["u"])
                self.left(bridge, "broken")

    def test_the_order_of_a_scheduled_graph_is_no_vote(self) -> None:
        """The ranks have agreed on it: one that cannot keep its units in order lets no other wait."""
        self.units_schedule()
        with apply.Bridge([self.schedule("fx", graph_json.graph_json(self.graph))]) as bridge, mock.patch.object(
                apply.unit_order, "scheduled", lambda units: True), mock.patch.object(
                apply.unit_order, "order_by_origins", side_effect=ValueError("broken")), self.assertLogs(
                "gatherscope_bridge", "WARNING"):
            self.assertEqual(bridge._units(["u"]), ["u"])
        self.assertEqual(self.votes, [])

    def test_what_an_earlier_pass_leaves(self) -> None:
        """A list where torch has a dict: modules are unknown, nothing more."""
        for node in self.graph.nodes:
            node.meta["nn_module_stack"] = ["blocks.0"]
        self.assertEqual({node["module"] for node in graph_json.graph_json(self.graph)["nodes"]}, {None})


if __name__ == "__main__":
    unittest.main()
