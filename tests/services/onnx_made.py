"""A tiny cross-encoder in ONNX, written byte by byte: its logit grows with the tokens that both texts share."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

INT64, FLOAT = 7, 1


def write_cross_encoder(path: Path, *, outputs: int = 1) -> Path:
    """Write the model: `outputs` is 1 for a single logit, or another number for what is no cross-encoder."""
    nodes = [
        _node("Reshape", ["input_ids", "column"], "ids_down"),
        _node("Reshape", ["input_ids", "row"], "ids_across"),
        _node("Equal", ["ids_down", "ids_across"], "equal"),
        _node("Cast", ["equal"], "same", to=FLOAT),
        _node("Cast", ["token_type_ids"], "types", to=FLOAT),
        _node("Reshape", ["types", "row"], "in_text"),
        _node("Reshape", ["types", "column"], "types_down"),
        _node("Sub", ["one", "types_down"], "in_question"),
        _node("Mul", ["same", "in_text"], "found"),
        _node("Mul", ["found", "in_question"], "shared"),
        _node("ReduceSum", ["shared"], "sum"),
        _node("Sub", ["sum", "middle"], "logit" if outputs == 1 else "single"),
    ]
    if outputs != 1:
        nodes.append(_node("Concat", ["single"] * outputs, "logit", axis=1))
    constants = [
        _tensor("column", INT64, [2], 7, [-1, 1]),
        _tensor("row", INT64, [2], 7, [1, -1]),
        _floats("one", 1.0),
        _floats("middle", 3.0),
    ]
    graph = b"".join(
        (
            *(_field(1, node) for node in nodes),
            _field(2, b"made"),
            *(_field(5, each) for each in constants),
            *(_field(11, _value(name, INT64)) for name in ("input_ids", "token_type_ids")),
            _field(12, _value("logit", FLOAT)),
        )
    )
    path.write_bytes(_number(1, 8) + _field(7, graph) + _field(8, _number(2, 13)))
    return path


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _field(tag: int, data: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    named = (
        _field(5, _field(1, name.encode()) + _number(3, value) + _number(20, 2)) for name, value in attributes.items()
    )
    return b"".join(
        (
            *(_field(1, name.encode()) for name in inputs),
            _field(2, output.encode()),
            _field(4, kind.encode()),
            *named,
        )
    )


def _tensor(name: str, kind: int, dims: Sequence[int], tag: int, values: Sequence[int]) -> bytes:
    return b"".join(
        (
            *(_number(1, each) for each in dims),
            _number(2, kind),
            _field(tag, b"".join(map(_varint, values))),
            _field(8, name.encode()),
        )
    )


def _floats(name: str, value: float) -> bytes:
    return _number(2, FLOAT) + _field(4, struct.pack("<f", value)) + _field(8, name.encode())


def _value(name: str, kind: int) -> bytes:
    shape = b"".join(_field(1, _field(2, each)) for each in (b"batch", b"length"))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))
