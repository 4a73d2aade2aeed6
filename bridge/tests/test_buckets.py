"""Gathers merged into one buffer: each rank fills its own part, whichever rank's schedule it is."""
from __future__ import annotations

import copy
import json
import pathlib
import tempfile
import unittest
from typing import Any, Callable

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

from gatherscope_bridge import Bridge, Schedule, ScheduleError, graph_json, structural_hash
from gatherscope_bridge.fx_plan import FxPlan, _own_texts

RANK = 1


def call(name: str, target: str, args: list[Any], **kwargs: Any) -> dict[str, Any]:
    return {"name": name, "op": "call_function", "target": target, "args": args, "kwargs": kwargs}


def node(name: str) -> dict[str, str]:
    return {"n": name}


class Merged(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        dist.init_process_group("fake", store=FakeStore(), rank=RANK, world_size=2)
        cls.addClassCleanup(dist.destroy_process_group)
        cls.group = dist.group.WORLD.group_name

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

        def program(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
            ops = torch.ops._c10d_functional
            a = ops.wait_tensor.default(ops.all_gather_into_tensor.default(x, 2, self.group))
            b = ops.wait_tensor.default(ops.all_gather_into_tensor.default(y, 2, self.group))
            return z.copy_(a.t() + b.t())

        self.program = program
        self.trace("cpu")

    def trace(self, device: str) -> None:
        with FakeTensorMode():
            inputs = [torch.empty(*shape, device=device) for shape in ((2, 3), (2, 3), (3, 4))]
        self.graph = make_fx(self.program, tracing_mode="fake")(*inputs).graph
        self.before = str(self.graph)

    def schedule(self, rank: int = 0) -> dict[str, Any]:
        """Both gathers as one of `rank`, as Gatherscope writes it."""
        document = graph_json.graph_json(self.graph)
        x, y, z, _, _, _, _, t, t_1, add, copy_, output = (item["name"] for item in document["nodes"])
        calls = [
            call("empty", "aten.empty.memory_format", [[24]], dtype={"dtype": "float32"}, device={"device": "cpu"},
                 pin_memory=False),
            call("part", "aten.slice.Tensor", [node("empty"), 0, 12 * rank, 12 * rank + 12]),
            call("view", "aten.view.default", [node(x), [6]]), call("view_1", "aten.view.default", [node(y), [6]]),
            call("cat", "aten.cat.default", [[node("view"), node("view_1")]]),
            call("fill", "aten.copy_.default", [node("part"), node("cat")]),
            call("gather", "_c10d_functional.all_gather_into_tensor_out.default", [node("fill"), 2, self.group],
                 out=node("empty")),
            call("wait", "_c10d_functional.wait_tensor.default", [node("gather")]),
            call("rows", "aten.view.default", [node("wait"), [2, 12]]),
            call("split", "aten.split_with_sizes.default", [node("rows"), [6, 6], 1]),
            call("a", "operator.getitem", [node("split"), 0]), call("b", "operator.getitem", [node("split"), 1]),
            call("clone", "aten.clone.default", [node("a")]), call("full", "aten._unsafe_view.default", [node("clone"), [4, 3]]),
            call("clone_1", "aten.clone.default", [node("b")]),
            call("full_1", "aten._unsafe_view.default", [node("clone_1"), [4, 3]])]
        kept = [call(t, "aten.t.default", [node("full")]), call(t_1, "aten.t.default", [node("full_1")])]
        self.kept, self.writes = t, copy_
        return {"format": "gatherscope.schedule", "version": 1, "level": "fx", "moves": [],
                "structural_hash": {"source": structural_hash(document), "after": "0" * 16},
                "order": [x, y, z, *(item["name"] for item in calls), t, t_1, add, copy_, output],
                "positions": [0, 1, 2, *(-1 for _ in calls), 7, 8, 9, 10, 11], "rewritten": calls + kept}

    def read(self, data: dict[str, Any]) -> Schedule:
        path = pathlib.Path(self.folder.name, "s.json")
        path.write_text(json.dumps(data))
        return Schedule.read(str(path))

    def plan(self, data: dict[str, Any]) -> FxPlan:
        return FxPlan(self.read(data), self.graph, graph_json.graph_json(self.graph))

    def changed(self, name: str, change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        data = copy.deepcopy(self.schedule())
        change(next(item for item in data["rewritten"] if item["name"] == name))
        return data

    def refused(self, name: str, change: Callable[[dict[str, Any]], Any], reason: str) -> None:
        with self.subTest(name=name, reason=reason):
            with self.assertRaisesRegex(ScheduleError, reason):
                self.plan(self.changed(name, change))
            self.assertEqual(str(self.graph), self.before)

    def test_each_rank_fills_its_part(self) -> None:
        for rank in (0, 1):
            with self.subTest(schedule_of=rank):
                self.setUp()
                plan = self.plan(self.schedule(rank))
                part = next(made for made in plan.made if made.target == torch.ops.aten.slice.Tensor)
                self.assertEqual(part.args[1:], (0, 12 * RANK, 12 * RANK + 12))
                self.assertEqual([item["args"][1:] for item in plan.collectives()], [[2, self.group]])
                plan.commit()
                self.graph.lint()
                values = {item.name: item.meta["val"] for item in self.graph.nodes if "val" in item.meta}
                self.assertEqual(tuple(values[self.kept].shape), (3, 4))
                self.assertNotIn("all_gather_into_tensor.default", str(self.graph))

    def test_each_rank_has_its_device(self) -> None:
        self.trace("meta")
        data = self.schedule()
        data["rewritten"][0]["kwargs"]["device"] = {"device": "meta:5"}
        plan = self.plan(data)
        self.assertEqual(plan.made[0].kwargs["device"], torch.device("meta"))
        self.assertEqual(plan.made[0].meta["val"].device, torch.device("meta"))
        plan.drop()
        data["rewritten"][0]["kwargs"]["device"] = {"device": "cuda:0"}
        with self.assertRaisesRegex(ScheduleError, "which device is cuda:0 here"):
            self.plan(data)

    def test_nodes_that_stay_keep_their_groups_and_devices(self) -> None:
        exported = ("made", 2, ["9", torch.device("cuda:0")], None)
        own = ("old", 2, ["3", torch.device("cuda:1")], 7)
        first, second = (torch.fx.Node(self.graph, name, "placeholder", name, (), {}) for name in ("a", "b"))
        self.assertEqual(_own_texts((first, *exported[1:]), (second, *own[1:])), (first, 2, ["3", torch.device("cuda:1")], None))

    def test_schedules_of_both_ranks_do_the_same(self) -> None:
        self.assertEqual(self.read(self.schedule(0)).digest(), self.read(self.schedule(1)).digest())

    def test_gathers_of_another_form(self) -> None:
        """They would be right on one rank, or on none."""
        self.refused("part", lambda item: item["args"].__setitem__(2, 6), "something else than a rank's part")
        self.refused("part", lambda item: item["args"].__setitem__(3, 13), "something else than a rank's part")
        self.refused("part", lambda item: item["args"].append(2), "does not gather from a part")
        self.refused("gather", lambda item: item["args"].__setitem__(0, node("cat")), "does not gather from a part")
        self.refused("gather", lambda item: item["args"].__setitem__(1, 0), "does not gather from a part")
        self.refused("empty", lambda item: item.update(args=[[25]]), "something else than a rank's part")

    def test_memory_of_others(self) -> None:
        first = next(iter(self.graph.nodes)).name
        self.refused("gather", lambda item: item["kwargs"].update(out=node(first)), "did not make")
        self.refused("gather", lambda item: item["kwargs"].clear(), "did not make")
        self.refused("fill", lambda item: item["args"].__setitem__(0, node("cat")), "did not make")
        self.refused("part", lambda item: item["args"].__setitem__(0, node("part")), "did not make")
        data = self.schedule()
        data["rewritten"].append(call(self.writes, "aten.copy_.default", [node("full"), node("full_1")]))
        with self.assertRaisesRegex(ScheduleError, "would write into something else"):
            self.plan(data)

    def test_a_group_of_another_rank(self) -> None:
        self.refused("gather", lambda item: item["args"].__setitem__(2, "77"), "group 77|does not know the group")

    def test_each_rank_takes_the_schedule_with_its_groups(self) -> None:
        own, other = self.read(self.schedule()), self.read(self.changed("gather", lambda item: item["args"].__setitem__(2, "77")))
        self.assertEqual((own.groups(), own.digest()), ({self.group}, other.digest()))
        with Bridge([other, own]) as bridge:
            self.assertEqual((bridge._schedule("fx", own.source_hash, {self.group: {}}), bridge._schedule("fx", "0", {})), (own, None))

    def test_another_shape(self) -> None:
        self.refused("full", lambda item: item["args"].__setitem__(1, [3, 4]), f"{self.schedule()['order'][-5]} would have another")

    def test_other_strides_reach_what_reads_them(self) -> None:
        data = self.changed(self.schedule()["order"][-5], lambda item: item["args"].__setitem__(0, node("turned")))
        data["rewritten"] += [call("turn", "aten.view.default", [node("full"), [3, 4]]),
                              call("turned", "aten.permute.default", [node("turn"), [1, 0]])]
        at = data["order"].index("full_1") + 1
        data["order"][at:at], data["positions"][at:at] = ["turn", "turned"], [-1, -1]
        values = {item.name: item.meta["val"].stride() for item in self.graph.nodes if "val" in item.meta}
        self.assertEqual(values[self.kept], (1, 3))
        plan = self.plan(data)
        self.assertEqual({item.name: value.stride() for item, value in plan.values.items()}[self.kept], (4, 1))
        self.assertEqual(next(item for item in self.graph.nodes if item.name == self.kept).meta["val"].stride(), (1, 3))
        plan.commit()
        self.assertEqual(next(item for item in self.graph.nodes if item.name == self.kept).meta["val"].stride(), (4, 1))

    def test_lowered_redistributes(self) -> None:
        with self.assertRaisesRegex(ScheduleError, "redistributes were lowered.*Recorder"):
            self.read(self.changed("view", lambda item: item.update(op="call_method", target="to_local")))


if __name__ == "__main__":
    unittest.main()
