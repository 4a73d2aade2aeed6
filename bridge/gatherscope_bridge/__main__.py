"""python -m gatherscope_bridge: capture a script, run one with schedules, look at schedules and graphs.

    capture --out FOLDER [--levels fx,scheduler] SCRIPT [ARGUMENT…]   run a script, write the graphs it compiles
    run --schedules FOLDER SCRIPT [ARGUMENT…]                         run a script with exported schedules
    check SCHEDULE… [--graph FILE]                                    what a schedule does, and whether it fits a graph
    hash GRAPH…                                                       structural hashes of graph files
    trace FOLDER                                                      logs of a TORCH_TRACE folder by rank

Under torchrun: `torchrun --nproc-per-node 8 -m gatherscope_bridge capture --out graphs train.py`.
"""
from __future__ import annotations

import argparse
import logging
import os
import runpy
import sys
from typing import Optional, Sequence, Union

from . import graph_json
from .apply import Bridge, install
from .capture import Recorder, trace_files
from .schedule import Schedule
from .structural_hash import structural_hash


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("gatherscope_bridge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    capture = commands.add_parser("capture", help="write the graphs that a script compiles")
    capture.add_argument("--out", required=True, metavar="FOLDER")
    capture.add_argument("--levels", default="fx", help="fx, scheduler, or both with a comma")
    capture.add_argument("--name", default="graph")
    run = commands.add_parser("run", help="run a script with schedules")
    run.add_argument("--schedules", required=True, metavar="FOLDER", action="append", help="folder or file; repeatable")
    run.add_argument("--timeout", type=float, default=120.0, help="seconds to wait for the other ranks' votes")
    for command in (capture, run):
        command.add_argument("script")
        command.add_argument("arguments", nargs=argparse.REMAINDER)
    check = commands.add_parser("check", help="what a schedule does, and whether it fits a graph")
    check.add_argument("schedules", nargs="+", metavar="SCHEDULE")
    check.add_argument("--graph", help="a captured graph")
    commands.add_parser("hash", help="structural hashes").add_argument("graphs", nargs="+", metavar="GRAPH")
    commands.add_parser("trace", help="logs by rank").add_argument("folder")
    return parser


def _script(path: str, arguments: Sequence[str]) -> None:
    """Runs a script as `python SCRIPT` does: its arguments, and the modules beside it."""
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    runpy.run_path(path, run_name="__main__")


def _shown(text: str) -> str:
    """Names come from files: nothing in them may steer the terminal or fill it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:4000])


def _check(paths: Sequence[str], graph: Optional[str]) -> int:
    wanted = structural_hash(graph_json.read(graph)) if graph else None
    fits = 0
    for path in paths:
        schedule = Schedule.read(path)
        fits += schedule.source_hash == wanted
        print(f"{path}: level {schedule.level}, graph {schedule.source_hash}, {len(schedule.order)} nodes, "
              f"{len(schedule.moves)} launches moved, {len(schedule.rewritten)} calls rewritten")
        for move in schedule.moves:
            print(_shown(f"  {move['launch']}: {move['from']} → {move['to']} {move['verdict']}"))
    if wanted is not None and not fits:
        print(f"none is for {graph} ({wanted})")
    return 0 if wanted is None or fits else 1


def _hooks(options: argparse.Namespace) -> Union[Recorder, Bridge]:
    """What a script runs under; raises for all that can be wrong before the script begins."""
    os.stat(options.script)
    if options.command == "capture":
        return Recorder(options.out, options.name, options.levels.split(","))
    return install(options.schedules, options.timeout)


def _look(options: argparse.Namespace) -> int:
    if options.command == "check":
        return _check(options.schedules, options.graph)
    if options.command == "hash":
        for path in options.graphs:
            print(structural_hash(graph_json.read(path)), path)
    else:
        for rank, files in sorted(trace_files(options.folder).items()):
            print(f"rank {rank}: {' '.join(files)}")
    return 0


def main(argv: Optional[Sequence[str]] = None) -> int:
    options = _parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    try:
        if options.command not in ("capture", "run"):
            return _look(options)
        hooks = _hooks(options)
    except (OSError, ValueError) as error:
        print(f"gatherscope_bridge: {_shown(str(error))}", file=sys.stderr)
        return 2
    with hooks:  # errors of the script are its own: they end it with their traceback
        _script(options.script, options.arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
