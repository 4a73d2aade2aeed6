"""What a captured graph says, and that its hash is Gatherscope's."""
from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from typing import Any

import torch
from torch import nn

import gatherscope_bridge
from gatherscope_bridge import graph_json, structural_hash
from gatherscope_bridge.__main__ import main
from gatherscope_bridge.structural_hash import text_word

from support import CLI, GRAPHS, export_schedule


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu().sum(dim=0, dtype=torch.float64)


def node(document: dict[str, Any], target: str) -> dict[str, Any]:
    return next(n for n in document["nodes"] if n["target"] == target)


class Arguments(unittest.TestCase):
    def test_every_kind(self) -> None:
        for value, want in (
                (None, None), (True, True), (3, 3), (2**70, {"repr": str(2**70)}), (1.5, 1.5),
                (float("inf"), {"float": "inf"}), (float("-inf"), {"float": "-inf"}), (float("nan"), {"float": "nan"}),
                ("sum", "sum"), ((1, [2]), [1, [2]]), ({"a": 1}, {"dict": {"a": 1}}),
                (slice(0, None, 2), {"slice": [0, None, 2]}), (torch.bfloat16, {"dtype": "bfloat16"}),
                (torch.device("cpu"), {"device": "cpu"}), (torch.strided, {"layout": "strided"}),
                (torch.channels_last, {"memory_format": "channels_last"})):
            self.assertEqual(graph_json.argument(value), want)

    def test_addresses_never_enter(self) -> None:
        self.assertEqual(graph_json.argument(object()), {"repr": "<object object>"})

    def test_values(self) -> None:
        tensor = torch.empty(2, 3, dtype=torch.complex64).t()
        self.assertEqual(graph_json.value_json([tensor, None, 4]), [
            {"dtype": "complex64", "shape": [3, 2], "stride": [1, 3], "device": "cpu"}, None, 4])


class Exported(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        batch = torch.export.Dim("batch", min=2, max=64)
        program = torch.export.export(Small(), (torch.randn(8, 4),), dynamic_shapes=({0: batch},))
        self.path = gatherscope_bridge.exported_program(program, self.folder.name)
        self.document = graph_json.read(self.path)

    def test_a_node_a_line(self) -> None:
        lines = pathlib.Path(self.path).read_text("utf-8").splitlines()
        self.assertEqual(len(lines), len(self.document["nodes"]) + 2)
        self.assertTrue(lines[0].startswith('{"format":"gatherscope.graph","version":1,"level":"fx"'))

    def test_parameters_have_names(self) -> None:
        names = [n["meta"].get("fqn") for n in self.document["nodes"] if n["op"] == "placeholder"]
        self.assertEqual(names, ["linear.weight", "linear.bias", None])

    def test_symbols_have_hints(self) -> None:
        size = next(n for n in self.document["nodes"] if n["name"] == "x")["val"]["shape"][0]
        self.assertEqual(size["hint"], 8)
        self.assertTrue(size["sym"])

    def test_what_torch_knows_of_the_operators(self) -> None:
        self.assertEqual(node(self.document, "aten.relu.default")["tags"], ["pointwise"])
        total = node(self.document, "aten.sum.dim_IntList")
        self.assertEqual((total["tags"], total["kwargs"]), (["reduction"], {"dtype": {"dtype": "float64"}}))
        self.assertTrue(total["source"].split(":")[0].endswith("test_capture.py"))
        self.assertEqual(node(self.document, "aten.linear.default")["module"], "linear")

    @unittest.skipUnless(CLI, "GATHERSCOPE_CLI is not set")
    def test_the_hash_is_gatherscopes(self) -> None:
        schedule = export_schedule(self.path, os.path.join(self.folder.name, "s.json"), "program-order")
        self.assertEqual(structural_hash(self.document), schedule["structural_hash"]["source"])
        self.assertEqual(schedule["order"], [n["name"] for n in self.document["nodes"]])
        self.assertEqual(schedule["positions"], list(range(len(self.document["nodes"]))))

    def test_packed(self) -> None:
        path = graph_json.write(self.document, os.path.join(self.folder.name, "a", "g.json.gz"))
        self.assertEqual(graph_json.read(path), self.document)
        with gzip.open(path) as file:
            self.assertEqual(json.load(file), self.document)


class Compiled(unittest.TestCase):
    def test_flops_phases_and_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model = Small()
            torch._dynamo.reset()
            with gatherscope_bridge.Recorder(folder, "small", ("fx", "scheduler")) as recorder:
                torch.compile(model)(torch.randn(8, 4)).sum().backward()
            names = [os.path.basename(path) for path in recorder.files]
            self.assertEqual(names, [f"small.{k}.{phase}.{level}.rank0.json" for k, phase in enumerate(("forward", "backward"))
                                     for level in ("fx", "scheduler")])
            forward, backward = graph_json.read(recorder.files[0]), graph_json.read(recorder.files[2])
            multiply = node(forward, "aten.addmm.default")
            self.assertEqual((multiply["flops"], multiply["phase"], multiply["tags"]), (2 * 8 * 4 * 4, "forward", ["compute"]))
            self.assertIn("linear", multiply["module"])
            self.assertEqual(node(backward, "aten.mm.default")["phase"], "backward")
            from torch._inductor import config
            self.assertIsNone(config.post_grad_custom_post_pass)
            self.assertIsNone(config._post_fusion_custom_pass)

    def test_a_pass_of_the_user_runs_too(self) -> None:
        from torch._inductor import config
        seen: list[int] = []
        with tempfile.TemporaryDirectory() as folder, config.patch(post_grad_custom_post_pass=lambda g: seen.append(len(g.nodes))):
            torch._dynamo.reset()
            with gatherscope_bridge.Recorder(folder) as recorder:
                torch.compile(lambda x: x.sin() + 1)(torch.randn(3))
            self.assertEqual((len(seen), len(recorder.files)), (1, 1))

    def test_a_pass_of_the_user_that_leaves_strange_marks(self) -> None:
        """Capture and schedules survive what another pass left, here a list where torch has a dict."""
        from torch._inductor import config

        def leave(graph: torch.fx.Graph) -> None:
            for each in graph.nodes:
                each.meta["nn_module_stack"] = ["blocks.0"]

        schedule = gatherscope_bridge.Schedule("s.json", "fx", "0" * 16, "0" * 16, [], [], {})
        with tempfile.TemporaryDirectory() as folder, config.patch(post_grad_custom_post_pass=leave):
            for make in (lambda: gatherscope_bridge.Bridge([schedule]), lambda: gatherscope_bridge.Recorder(folder)):
                torch._dynamo.reset()
                with make() as hooks:
                    self.assertEqual(torch.compile(lambda x: x.cos() + 1)(torch.zeros(2)).tolist(), [2.0, 2.0])
            self.assertEqual(len(hooks.files), 1)

    def test_backend(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            torch._dynamo.reset()
            run = torch.compile(Small(), backend=gatherscope_bridge.backend(folder, inner="eager"))
            self.assertEqual(run(torch.randn(8, 4)).shape, (4,))
            document = graph_json.read(os.path.join(folder, "dynamo.0.rank0.json"))
            self.assertTrue(any(n["op"] != "placeholder" and n["val"] for n in document["nodes"]))

    def test_a_failing_capture_is_a_warning(self) -> None:
        torch._dynamo.reset()
        with tempfile.NamedTemporaryFile() as file, self.assertLogs("gatherscope_bridge", "WARNING"):
            with gatherscope_bridge.Recorder(os.path.join(file.name, "no folder")):
                self.assertEqual(torch.compile(lambda x: x.cos())(torch.zeros(2)).tolist(), [1.0, 1.0])


class Hashes(unittest.TestCase):
    @unittest.skipUnless(CLI, "GATHERSCOPE_CLI is not set")
    def test_corpus(self) -> None:
        """Of graphs that other captures wrote: dynamo graphs, symbols, fused units, rewrites by a pass."""
        paths = sorted(GRAPHS.glob("*.json*"))
        self.assertGreater(len(paths), 10)
        with tempfile.TemporaryDirectory() as folder:
            for path in paths:
                schedule = export_schedule(str(path), os.path.join(folder, "s.json"), "program-order")
                self.assertEqual(structural_hash(graph_json.read(str(path))), schedule["structural_hash"]["source"], path.name)

    def test_the_words_of_texts_are_not_kept_for_ever(self) -> None:
        self.assertIsNotNone(text_word.cache_info().maxsize)

    def test_names_do_not_enter_and_arguments_do(self) -> None:
        def document(name: str, size: int) -> dict[str, Any]:
            value = {"dtype": "float32", "shape": [{"sym": name, "hint": 4}], "stride": None, "device": "cpu"}
            return {"nodes": [
                {"name": name, "op": "placeholder", "target": name, "args": [], "kwargs": {}, "val": value},
                {"name": "b" + name, "op": "call_function", "target": "aten.mul.Tensor", "args": [{"n": name}, size],
                 "kwargs": {}, "val": value}]}
        self.assertEqual(structural_hash(document("x", 2)), structural_hash(document("y", 2)))
        self.assertNotEqual(structural_hash(document("x", 2)), structural_hash(document("x", 3)))


class CommandLine(unittest.TestCase):
    def run_main(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(arguments)
        return code, out.getvalue()

    def test_trace_and_unreadable_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("dedicated_log_torch_trace_rank_1_ab.log", "dedicated_log_torch_trace_zz.log", "other.log"):
                pathlib.Path(folder, name).write_text("")
            code, out = self.run_main("trace", folder)
            self.assertEqual(code, 0)
            self.assertEqual([line.split(":")[0] for line in out.splitlines()], ["rank 0", "rank 1"])
            self.assertEqual(self.run_main("hash", os.path.join(folder, "none.json"))[0], 2)
            code, out = self.run_main("check", os.path.join(folder, "other.log"))
            self.assertEqual(code, 2)
            self.assertIn("other.log", out)

    def test_graph_files_that_cannot_be_used(self) -> None:
        node = {"name": "x", "op": "placeholder", "target": "x", "args": [], "kwargs": {}}
        good = {"format": "gatherscope.graph", "version": 1, "nodes": [node]}
        deep = json.loads("[" * 70 + "]" * 70)
        packed = gzip.compress(json.dumps(good).encode() + b" " * 5000)
        for name, data, reason in (
                ("a.json", json.dumps({**good, "format": "gatherscope.schedule"}), "not a gatherscope.graph"),
                ("b.json", json.dumps(good)[:-5], "line 1"), ("c.json", "[" * 100000, "nested"),
                ("d.json", b"\xff\xfe", "utf-8"), ("e.json.gz", packed[:-12], "ended"), ("f.json.gz", b"text", "gzip"),
                ("g.json.gz", packed[:12] + b"\xff" * 20 + packed[32:], ""),
                ("h.json", json.dumps({**good, "nodes": 5}), "nodes is not a list"),
                ("i.json", json.dumps({**good, "nodes": [node, 5]}), "nodes[1] is not an object"),
                ("j.json", json.dumps({**good, "nodes": [{**node, "op": 5}]}), "nodes[0].op is not a text"),
                ("k.json", json.dumps({**good, "nodes": [{**node, "kwargs": []}]}), "nodes[0].kwargs is not an object"),
                ("l.json", json.dumps({**good, "nodes": [{**node, "inputs": [1]}]}), "nodes[0].inputs[0] is not a text"),
                ("m.json", json.dumps({**good, "nodes": [{**node, "args": deep}]}), "nested"),
                ("n.json", json.dumps({**good, "nodes": [{**node, "args": [10**400]}]}), "64 bits")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.write_bytes(data if isinstance(data, bytes) else data.encode())
                code, out = self.run_main("hash", str(path))
                self.assertEqual((code, out.count("\n")), (2, 1), out)
                self.assertIn(f"{path}: ", out)
                self.assertIn(reason, out)

    def test_a_script_runs_as_python_runs_it(self) -> None:
        """It finds the modules beside it, and its own errors are its own."""
        self.addCleanup(setattr, sys, "path", list(sys.path))
        self.addCleanup(setattr, sys, "argv", list(sys.argv))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "gs_beside.py").write_text("value = 7\n")
            script = pathlib.Path(folder, "script.py")
            script.write_text("import sys, gs_beside\nassert gs_beside.value == 7 and sys.argv[1:] == ['go', '--fast']\n")
            self.assertEqual(self.run_main("capture", "--out", folder, str(script), "go", "--fast")[0], 0)
            self.assertEqual(sys.argv[0], str(script))
            script.write_text("open('/nonexistent/data.bin')\n")
            with self.assertRaisesRegex(FileNotFoundError, "data.bin"):
                self.run_main("capture", "--out", folder, str(script))
            from torch._inductor import config
            self.assertIsNone(config.post_grad_custom_post_pass)
            code, out = self.run_main("capture", "--out", folder, "--levels", "zzz", str(script))
            self.assertEqual((code, out), (2, "gatherscope_bridge: levels are fx and scheduler, not zzz\n"))
            self.assertEqual(self.run_main("capture", "--out", folder, os.path.join(folder, "none.py"))[0], 2)
            self.assertEqual(self.run_main("run", "--schedules", folder, str(script))[0], 2)

    @unittest.skipUnless(CLI, "GATHERSCOPE_CLI is not set")
    def test_capture_of_a_script_and_check(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "script.py")
            script.write_text("import sys, torch\nassert sys.argv[1] == 'go'\n"
                              "torch._dynamo.reset()\nprint(torch.compile(lambda x: x.tan() * 2)(torch.ones(3)))\n")
            code, _ = self.run_main("capture", "--out", folder, "--name", "s", str(script), "go")
            self.assertEqual(code, 0)
            graph = os.path.join(folder, "s.0.inference.fx.rank0.json")
            schedule = os.path.join(folder, "out.json")
            export_schedule(graph, schedule, "program-order")
            self.assertEqual(self.run_main("check", schedule, "--graph", graph)[0], 0)
            self.assertTrue(self.run_main("hash", graph)[1].endswith(graph + "\n"))
            self.assertEqual(self.run_main("run", "--schedules", schedule, str(script), "go")[0], 0)
            other = graph_json.read(graph)
            other["nodes"][-2]["target"] = "aten.sin.default"
            graph_json.write(other, graph)
            self.assertEqual(self.run_main("check", schedule, "--graph", graph)[0], 1)


if __name__ == "__main__":
    unittest.main()
