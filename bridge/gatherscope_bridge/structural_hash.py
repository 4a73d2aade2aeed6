"""The structural hash of a `gatherscope.graph` document, word for word as Gatherscope computes it.

A schedule names the graph that it was made for by this hash, so both programs must get the same number from the same
file. Definition: core/graph/structural_hash.h of Gatherscope.
"""
from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Iterator

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 0xFFFFFFFFFFFFFFFF
_CALLS = ("call_function", "call_method", "call_module")
_UNKNOWN = -1
# Names of the dtypes that Gatherscope knows, and the abbreviations that it accepts for them.
_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu", "float4_e2m1fn_x2": "f4e2m1fnx2", "int64": "i64", "int32": "i32", "int16": "i16",
    "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "b8", "complex32": "c32",
    "complex64": "c64", "complex128": "c128"}
_NAMES = {**{name: name for name in _DTYPES}, **{short: name for name, short in _DTYPES.items()}}
_TEXTS = ("dtype", "device", "layout", "memory_format", "repr")  # in the order in which the reader asks for them


def hash_words(words: Iterator[int]) -> int:
    state = _OFFSET
    for word in words:
        state = ((state ^ (word & _MASK)) * _PRIME) & _MASK
    return state


@lru_cache(maxsize=1 << 14)  # operators and dtypes recur; names come and go with their graphs
def text_word(text: str) -> int:
    """FNV-1a-64 of the UTF-8 bytes."""
    return hash_words(iter(text.encode("utf-8", "surrogatepass")))


def _float_word(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63


def _hint(item: dict[str, Any]) -> int:
    hint = item.get("hint")
    return int(hint) if hint is not None and _is_int(hint) else _UNKNOWN


def _dimension(item: Any) -> int:
    if _is_int(item):
        return item if item >= 0 else _UNKNOWN
    return _hint(item) if isinstance(item, dict) else _UNKNOWN


def _value_words(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        for item in value:
            yield from _value_words(item)
    elif isinstance(value, dict) and not isinstance(value.get("sym"), str) and not isinstance(value.get("repr"), str):
        dtype = value.get("dtype")
        yield text_word(_NAMES.get(dtype, "unknown") if isinstance(dtype, str) else "unknown")
        shape = value["shape"] if isinstance(value.get("shape"), list) else []
        yield len(shape)
        for item in shape:
            yield _dimension(item)


class _Arguments:
    """Words of arguments; node arguments have none of their own, they enter by the inputs."""

    def __init__(self, position: dict[str, int]) -> None:
        self.position = position  # of the nodes so far

    def words(self, item: Any) -> Iterator[int]:
        if item is None:
            yield 0
        elif isinstance(item, bool):
            yield int(item)
        elif _is_int(item):
            yield item
        elif isinstance(item, (int, float)):
            yield _float_word(float(item))
        elif isinstance(item, str):
            yield text_word(item)
        elif isinstance(item, list):
            for child in item:
                yield from self.words(child)
        elif isinstance(item, dict):
            yield from self._tagged(item)

    def _tagged(self, item: dict[str, Any]) -> Iterator[int]:
        if isinstance(name := item.get("n"), str):
            if name not in self.position:
                yield text_word(name)  # read as a text, with a diagnostic
            return
        for key in _TEXTS:
            if isinstance(item.get(key), str):
                if key != "device":
                    yield text_word(item[key])
                return
        if isinstance(item.get("sym"), str):
            yield _hint(item)
        elif isinstance(text := item.get("float"), str):
            yield _float_word(float(text) if text in ("inf", "-inf") else float("nan"))
        elif isinstance(item.get("slice"), list):
            yield from self.words(item["slice"])
        elif isinstance(item.get("dict"), dict):
            yield from self.dictionary(item["dict"])
        else:
            yield 0

    def dictionary(self, items: dict[str, Any]) -> Iterator[int]:
        for key, item in items.items():
            yield text_word(key)
            yield from self.words(item)


def _node_names(item: Any) -> Iterator[str]:
    if isinstance(item, list):
        for child in item:
            yield from _node_names(child)
    elif isinstance(item, dict):
        if isinstance(item.get("n"), str):
            yield item["n"]
        elif not any(isinstance(item.get(key), str) for key in (*_TEXTS, "sym", "float")):
            children = item.get("slice") if isinstance(item.get("slice"), list) else item.get("dict")
            yield from _node_names(list(children.values()) if isinstance(children, dict) else children)


def structural_hash(document: dict[str, Any]) -> str:
    """16 hexadecimal digits, equal on every rank that has the same program."""
    return f"{hash_words(_document_words(document)):016x}"


def _document_words(document: dict[str, Any]) -> Iterator[int]:
    scheduler = document.get("level") == "scheduler"
    position: dict[str, int] = {}
    arguments = _Arguments(position)
    for index, node in enumerate(document["nodes"]):
        yield text_word(node["op"])
        if node["op"] in _CALLS:
            yield text_word(node["target"])
        named = node.get("inputs", []) if scheduler else _node_names([node["args"], list(node["kwargs"].values())])
        inputs = list(dict.fromkeys(position[name] for name in named if name in position))
        yield len(inputs)
        yield from inputs
        yield from arguments.words(node["args"])
        yield from arguments.dictionary(node["kwargs"])
        yield hash_words(_value_words(node.get("val")))
        position[node["name"]] = index
