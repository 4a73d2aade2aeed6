"""Gatherscope's bridge into PyTorch: `capture` writes the graphs that Inductor compiles, `apply` runs schedules.

    import gatherscope_bridge as bridge
    with bridge.Recorder("graphs"):
        step()                                      # a compiled step: graphs/*.rankN.json
    # gatherscope-cli export schedule graphs/… -o schedules/…
    with bridge.install("schedules"):
        step()                                      # the same program, compiled anew, in the exported order
"""
from .apply import Applied, Bridge, install
from .capture import Recorder, backend, exported_program, trace_files
from .files import ScheduleError
from .schedule import Schedule, load
from .structural_hash import structural_hash

__all__ = ["Applied", "Bridge", "Recorder", "Schedule", "ScheduleError", "backend", "exported_program", "install", "load",
           "structural_hash", "trace_files"]
__version__ = "1.0.0"
