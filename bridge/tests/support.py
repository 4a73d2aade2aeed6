"""Where the tests find Gatherscope and its graphs."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = ROOT / "tests" / "data" / "corpus" / "graphs"
CLI = os.environ.get("GATHERSCOPE_CLI", "")


def export_schedule(graph: str, out: str, scheduler: str, *options: str) -> dict[str, Any]:
    """Runs gatherscope-cli on a graph file; the schedule is written to `out` and given back."""
    subprocess.run([CLI, "export", "--quiet", "--format", "schedule", "--scheduler", scheduler, *options, "--out", out, graph],
                   check=True, timeout=120, stderr=subprocess.PIPE)
    with open(out, encoding="utf-8") as file:
        return json.load(file)
