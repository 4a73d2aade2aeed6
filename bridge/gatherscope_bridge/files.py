"""Reading what other programs wrote: every file that cannot be used is a ScheduleError that names it and the field."""
from __future__ import annotations

import gzip
import json
import zlib
from typing import Any, Optional

_DEPTH = 64  # of lists and objects in each other: no argument has so many, and every walk over them recurses
_TYPES = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


class ScheduleError(ValueError):
    """A schedule, a graph file, or the state of torch, with which nothing can be done."""


def read_json(path: str, what: str) -> dict[str, Any]:
    """The document of a file, `.gz` unpacked, whose "format" is `what` and whose "version" is 1."""
    try:
        with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as file:
            data = json.loads(file.read().decode("utf-8"))
    except RecursionError:
        raise ScheduleError(f"{path}: nested too deeply") from None
    except OSError as error:
        raise ScheduleError(f"{path}: {error.strerror or error}") from error
    except (ValueError, EOFError, zlib.error) as error:
        raise ScheduleError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("format") != what or data.get("version") != 1 or not _is(
            data["version"], int):
        raise ScheduleError(f"{path}: not a {what} of version 1")
    if not _plain(data, _DEPTH):
        raise ScheduleError(f"{path}: nested too deeply, or with a number of more than 64 bits")
    return data


def _plain(item: Any, depth: int) -> bool:
    if isinstance(item, (dict, list)):
        return depth > 0 and all(_plain(child, depth - 1) for child in (item.values() if isinstance(item, dict) else item))
    return not isinstance(item, int) or -2**63 <= item < 2**64


class Fields:
    """The fields of one object of a file; `where` is its place in it: `moves[3]`."""

    def __init__(self, path: str, item: Any, where: str = "") -> None:
        self.path, self.where, self.item = path, where, item
        if not _is(item, dict):
            raise self._error(None, "is not an object")

    def _error(self, key: Optional[str], problem: str) -> ScheduleError:
        return ScheduleError(f"{self.path}: {'.'.join(part for part in (self.where, key) if part)} {problem}")

    def get(self, key: str, kind: type) -> Any:
        """The value of a field, which must be there and of this type (`True` is no number)."""
        if key not in self.item:
            raise self._error(key, "is missing; write the file with this version of Gatherscope")
        if not _is(self.item[key], kind):
            raise self._error(key, f"is not {_TYPES[kind]}")
        return self.item[key]

    def items(self, key: str, kind: type) -> list[Any]:
        """A list whose items are all of this type."""
        values = self.get(key, list)
        for index, value in enumerate(values):
            if not _is(value, kind):
                raise self._error(f"{key}[{index}]", f"is not {_TYPES[kind]}")
        return values

    def objects(self, key: str) -> list["Fields"]:
        place = f"{self.where}.{key}" if self.where else key
        return [Fields(self.path, value, f"{place}[{index}]") for index, value in enumerate(self.get(key, list))]


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
