"""What the command line exports for PyTorch, given to the installed PyTorch: its own loader must take the profile and
return our numbers, its own configuration must know every exported key.

Run by `packaging/test --torch`. GATHERSCOPE_CLI names the program; default is the release build of this checkout.
"""
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("GATHERSCOPE_CLI", str(ROOT / "build/release/app/gatherscope-cli"))
CORPUS = [pathlib.Path(os.environ["GATHERSCOPE_SHARED"]) / "corpus"] if "GATHERSCOPE_SHARED" in os.environ else []
CORPUS += [ROOT.parent / "shared/corpus", ROOT / "tests/data/corpus"]

try:
    import torch
except ImportError:
    torch = None


def corpus(relative):
    for folder in CORPUS:
        for name in (relative, relative + ".gz"):
            if (folder / name).exists():
                return folder / name
    return None


def read_json(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def export(graph, kind, *options):
    return subprocess.run([CLI, "export", "--format", kind, "--quiet", *options, str(graph)], check=True,
                          capture_output=True, text=True).stdout


def hint(dim):
    return dim if isinstance(dim, int) else dim["hint"]


@unittest.skipUnless(torch is not None and os.path.exists(CLI), "needs torch and the built command line")
class ProfileGuidedEstimates(unittest.TestCase):
    """Inductor's estimator against the cost file that the profile was made from."""

    @classmethod
    def setUpClass(cls):
        try:
            from torch._inductor.fx_passes import profile_guided_estimation
        except ImportError as missing:
            raise unittest.SkipTest(f"torch {torch.__version__} has no profile-guided estimation") from missing
        cls.module = profile_guided_estimation

    def tensor(self, value):
        shape = [hint(dim) for dim in value["shape"]]
        stride = [hint(dim) for dim in value["stride"]] if value["stride"] else None
        dtype = getattr(torch, value["dtype"])
        return torch.empty_strided(shape, stride, dtype=dtype, device="meta") if stride is not None else torch.empty(
            shape, dtype=dtype, device="meta")

    def value(self, value):
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self.tensor(value) if isinstance(value, dict) and "shape" in value else value

    def argument(self, argument, nodes):
        if isinstance(argument, list):
            return [self.argument(item, nodes) for item in argument]
        if isinstance(argument, dict):
            return nodes[argument["n"]] if "n" in argument else None
        return argument

    def rebuild(self, graph):
        """An fx graph with meta["val"], for the nodes that are asked about; the others are placeholders."""
        out, nodes = torch.fx.Graph(), {}
        for node in graph["nodes"]:
            parts = node["target"].split(".")
            if node["op"] == "call_function" and len(parts) == 3 and (
                    parts[0] == "_c10d_functional" or node["target"] in self.MATMULS):
                target = getattr(getattr(getattr(torch.ops, parts[0]), parts[1]), parts[2])
                made = out.call_function(target, tuple(self.argument(a, nodes) for a in node["args"]))
            else:
                made = out.placeholder(node["name"])
            made.name = node["name"]
            made.meta["val"] = self.value(node["val"])
            nodes[node["name"]] = made
        return nodes

    MATMULS = {"aten.mm.default", "aten.bmm.default", "aten.addmm.default", "aten.baddbmm.default"}
    COLLECTIVES = {"_c10d_functional.all_gather_into_tensor.default", "_c10d_functional.reduce_scatter_tensor.default",
                   "_c10d_functional.all_gather_into_tensor_out.default", "_c10d_functional.all_reduce.default",
                   "_c10d_functional.all_to_all_single.default"}

    def make_groups(self, graph):
        """The graph's process groups under their names, in a world that only exists on paper."""
        import torch.distributed as dist
        import torch.testing._internal.distributed.fake_pg as fake_pg
        ranks = {name: group["ranks"] for name, group in graph["groups"].items()}
        world = max([graph["source"].get("world_size") or 1] + [max(r) + 1 for r in ranks.values() if r])
        dist.init_process_group("fake", store=fake_pg.FakeStore(), rank=graph["source"].get("rank") or 0,
                                world_size=world)
        self.addCleanup(dist.destroy_process_group)
        by_name = {name: tuple(sorted(group or range(world))) for name, group in ranks.items()}
        original = self.module._get_collective_info

        def info(node):
            # The names that the graph was captured with need not be free here: the ranks are what counts.
            import torch.distributed.distributed_c10d as c10d
            saved = c10d._resolve_process_group, c10d.get_process_group_ranks
            c10d._resolve_process_group = lambda name: str(name)
            c10d.get_process_group_ranks = lambda name: list(by_name[name])
            try:
                return original(node)
            finally:
                c10d._resolve_process_group, c10d.get_process_group_ranks = saved

        self.module._get_collective_info = info
        self.addCleanup(setattr, self.module, "_get_collective_info", original)

    def check(self, name):
        graph_file, cost_file = corpus(f"graphs/{name}.json"), corpus(f"costs/{name}.roofline.json")
        if not graph_file or not cost_file:
            self.skipTest(f"the corpus here has no {name}")
        graph, costs = read_json(graph_file), read_json(cost_file)["nodes"]
        self.make_groups(graph)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "profile.json"
            path.write_text(export(graph_file, "pge", "--costs", str(cost_file)), encoding="utf-8")
            estimator = self.module.ProfileGuidedEstimator(str(path))
        nodes = self.rebuild(graph)
        asked = {"matmul": 0, "collective": 0}
        for node in graph["nodes"]:
            kind = ("matmul" if node["target"] in self.MATMULS else
                    "collective" if node["target"] in self.COLLECTIVES else None)
            if kind is None or node["name"] not in costs:
                continue
            with self.subTest(graph=name, node=node["name"]):
                found = estimator(nodes[node["name"]])
                self.assertIsNotNone(found)
                self.assertAlmostEqual(found, costs[node["name"]] / 1e6, delta=1e-9 * max(1.0, found))
            asked[kind] += 1
        self.assertGreater(asked["matmul"], 0)
        self.assertGreater(asked["collective"], 0)
        return asked

    def test_one_group(self):
        self.check("lm2_fsdp8_joint")

    def test_two_groups(self):
        self.check("lm3_hsdp8x8_joint")

    def test_two_dimensions(self):
        self.check("llama3_8b_tp8fsdp8_joint")

    def test_symbolic_sizes(self):
        self.check("lm2_dynseq_fsdp8_joint")

    def test_biases(self):
        self.check("lm4_bias_bf16reduce_fsdp8_joint")

    def test_whole_model(self):
        self.check("llama3_8b_fsdp64_joint")


@unittest.skipUnless(torch is not None and os.path.exists(CLI), "needs torch and the built command line")
class InductorSettings(unittest.TestCase):
    """The exported settings, loaded into the installed torch's own configuration module."""

    VARIANTS = [
        ["--scheduler", "overlap-scheduler-upstream", "--set", "collective_bucketing=true", "--set", "bucket_mode=fsdp",
         "--set", "bucket_cap_mib=25", "--set", "max_in_flight_gb=0.5"],
        ["--scheduler", "overlap-scheduler", "--set", "compute_overlap_multipler=0.8"],
        ["--scheduler", "latest-safe-launch", "--set", "bucket_mode=coalesced"],
        ["--scheduler", "program-order"],
    ]

    def setUp(self):
        self.graph = corpus("graphs/mlp4_fsdp8_joint.json") or ROOT / "samples/mlp4_fsdp8_joint.json.gz"
        versions = json.loads((ROOT / "resources/inductor_keys.json").read_text(encoding="utf-8"))["versions"]
        self.known = {item["version"]: item for item in versions}
        self.installed = ".".join(torch.__version__.split(".")[:2])
        import torch._inductor.config as config
        self.addCleanup(config.load_config, config.save_config())  # other tests find torch as it was

    def load(self, version, variant):
        text = export(self.graph, "inductor", "--for", f"torch-{version}", *variant)
        space = {}
        exec(compile(text, "exported settings", "exec"), space)
        return text, space

    def test_installed_torch_takes_them(self):
        if self.installed not in self.known:
            self.skipTest(f"no export for torch {self.installed} yet")
        import torch._inductor.config as config
        for variant in self.VARIANTS:
            with self.subTest(variant=variant), config.patch({}):
                _, space = self.load(self.installed, variant)
                space["apply"]()
                for name, value in space["SETTINGS"].items():
                    owner, _, field = name.rpartition(".")
                    self.assertEqual(getattr(getattr(config, owner), field), value)

    def test_unknown_names_are_an_error(self):
        _, space = self.load(self.installed if self.installed in self.known else "2.15", self.VARIANTS[0])
        space["SETTINGS"]["aten_distributed_optimizations.no_such_option"] = True
        with self.assertRaises(AttributeError):
            space["apply"]()

    def test_fields_are_those_of_the_installed_torch(self):
        if self.installed not in self.known:
            self.skipTest(f"no export for torch {self.installed} yet")
        import torch._inductor.config as config
        prefix = "aten_distributed_optimizations."
        fields = {name.removeprefix(prefix) for name in config._config if name.startswith(prefix)}
        self.assertEqual(fields, set(self.known[self.installed]["keys"]))

    def test_no_version_gets_a_field_that_it_lacks(self):
        for version, item in self.known.items():
            for variant in self.VARIANTS:
                text, space = self.load(version, variant)
                with self.subTest(version=version, variant=variant):
                    names = {name.split(".")[-1] for name in space["SETTINGS"]}
                    self.assertLessEqual(names, set(item["keys"]))
                    self.assertIn("# Not expressed", text)


if __name__ == "__main__":
    unittest.main()
