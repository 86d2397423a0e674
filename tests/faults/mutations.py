"""Ways to damage a file, each the same for the same generator of random numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Mutation = Callable[[random.Random, bytes, bytes], bytes]
"""Of the data and of other data of the same format: damaged data."""

EXTREMES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)
"""Numbers that a reader may forget to check: nothing, most, and one beyond most."""

NUMBERS = (b"0", b"-1", b"4294967295", b"9223372036854775808", b"1e999", b"NaN", b"99999999999999999999999999")
"""The same where numbers are written out."""


def flipped(random: random.Random, data: bytes, _other: bytes) -> bytes:
    """A few bits turned over."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def truncated(random: random.Random, data: bytes, _: bytes) -> bytes:
    """The end is missing, now and then all but a few bytes."""
    return data[: random.randrange(1, random.choice((len(data), min(len(data), 64))) + 1)]


def beheaded(random: random.Random, data: bytes, _: bytes) -> bytes:
    """Something is missing after the first bytes."""
    head = random.choice((4, 16, 512))
    cut = random.randrange(1, max(2, len(data) // 4))
    return data[:head] + data[head + cut :]


def spliced(random: random.Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one file, the end of another."""
    return data[: random.randrange(1, len(data) + 1)] + other[random.randrange(len(other)) :]


def zeroed(random: random.Random, data: bytes, _: bytes) -> bytes:
    """A block of nothing, as a disk leaves it."""
    size = random.choice((4, 64, 512, 4096))
    at = random.randrange(len(data))
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :]


def resized(random: random.Random, data: bytes, _other: bytes) -> bytes:
    """Some field of 1 to 8 bytes, which may well be a length, says nothing, most, or -1."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 4))):
        size = random.choice((1, 2, 4, 4, 8))
        value = random.choice(EXTREMES) & ((1 << 8 * size) - 1)
        at = random.randrange(min(len(out), random.choice((256, len(out)))))
        out[at : at + size] = value.to_bytes(size, random.choice(("big", "little")))
    return bytes(out)


def renumbered(random: random.Random, data: bytes, other: bytes) -> bytes:
    """A number that is written out becomes another one; where there is none, as `resized`."""
    digits = [at for at, byte in enumerate(data[:200_000]) if 48 <= byte <= 57]
    if not digits:
        return resized(random, data, other)
    at = random.choice(digits)
    end = at
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:at] + random.choice(NUMBERS) + data[end:]


def repeated(random: random.Random, data: bytes, _: bytes) -> bytes:
    """A piece stands there several times."""
    start = random.randrange(len(data))
    piece = data[start : start + random.choice((8, 64, 1024, 8192))]
    return data[:start] + piece * random.choice((2, 2, 3, 50)) + data[start + len(piece) :]


def shuffled(random: random.Random, data: bytes, _: bytes) -> bytes:
    """Two pieces have changed places."""
    one, two, three = sorted(random.randrange(len(data) + 1) for _ in range(3))
    return data[:one] + data[two:three] + data[one:two] + data[three:]


def salted(random: random.Random, data: bytes, _: bytes) -> bytes:
    """Bytes of chance in the middle."""
    at = random.randrange(len(data))
    return data[:at] + random.randbytes(random.choice((1, 4, 32))) + data[at:]


KINDS: dict[str, Mutation] = {
    each.__name__: each
    for each in (
        flipped, truncated, beheaded, spliced, zeroed, resized, renumbered, repeated, shuffled, salted,
    )
}  # fmt: skip
"""Every mutation by its name."""


def mutated(chance: random.Random, data: bytes, others: Sequence[bytes] = ()) -> tuple[str, bytes]:
    """`data` damaged once, at times twice or three times; the names of what was done. Never empty."""
    names, out = [], data or b"\0"
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(list(KINDS))
        names.append(name)
        out = KINDS[name](chance, out, chance.choice(others) if others else out) or b"\0"
    return "+".join(names), out


def seeded(*words: object) -> random.Random:
    """The numbers of chance that belong to these words, the same in every process."""
    return random.Random("/".join(map(str, words)))


ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**400, -(2**63), 2**63, 2**53 + 1, 1e308, -0.0, 0.5, float("nan"), float("inf"), "", "0", "x" * 5000,
    "\ud800", "\udcff", "a\0b", "../../x", "\u202e\x1b[31m", "2025-01-01T00:00:00+99:99", "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00", "0" * 64, [], [[]], {}, [1, 2], [2, 1], [0, 0, 1, 1], [1e400] * 4, ["x"] * 2000, {"": None}, [None],
    {"modality": "text", "lines": [1, 2]},
)  # fmt: skip
"""Values that JSON can say, and a reader may not think of."""


def retold(chance: random.Random, data: Any) -> Any:
    """JSON data in which one to three values have become others, have gone, have moved, or stand there twice."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = _retold_once(chance, data)
    return data


def _retold_once(chance: random.Random, data: Any) -> Any:
    places = list(_places(data))
    if not places or chance.random() < 0.02:
        return chance.choice(ODD)
    path = chance.choice(places)
    other = chance.choice(places)
    value = chance.choice((chance.choice(ODD), _at(data, other), [_at(data, path)], {"x": _at(data, path)}))
    return _changed(data, path, value, chance.choice(("put", "put", "put", "drop", "twice")))


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _at(data: Any, path: Sequence[Any]) -> Any:
    for key in path:
        data = data[key]
    return data


def _changed(data: Any, path: Sequence[Any], value: Any, how: str) -> Any:
    key, rest = path[0], path[1:]
    if isinstance(data, dict):
        if not rest and how == "drop":
            return {each: kept for each, kept in data.items() if each != key}
        new = _changed(data[key], rest, value, how) if rest else value
        return {**data, key: new, **({f"{key}2": data[key]} if how == "twice" and not rest else {})}
    if rest:
        return [*data[:key], _changed(data[key], rest, value, how), *data[key + 1 :]]
    return [*data[:key], *{"put": [value], "drop": [], "twice": [data[key], data[key], value]}[how], *data[key + 1 :]]


def mutated_text(chance: random.Random, data: bytes, others: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """A text damaged: as JSON where it is (each line may be), with words of its own kind, or byte by byte."""
    if chance.random() < 0.6:
        lines = data.split(b"\n") if b"\n" in data and data[-1:] == b"}" and data[:2] != b"{\n" else [data]
        try:
            plain = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            pass
        else:
            at = chance.randrange(len(plain))
            plain[at] = retold(chance, plain[at])
            return b"\n".join(json.dumps(each).encode() for each in plain)
    if chance.random() < 0.6:
        out = data
        for _ in range(chance.choice((1, 1, 2, 4))):
            at, gone = chance.randrange(len(out) + 1), chance.choice((0, 0, 1, 1, 2, 5))
            out = out[:at] + chance.choice((*WORDS, *words)) + out[at + gone :]
        return out
    return mutated(chance, data, others)[1]


WORDS = (
    *NUMBERS, b"", b"-", b",", b":", b"=", b"&", b"#", b"%", b"%00", b"%ff", b"%2F", b"\0", b"\n", b"\r", b"\xff", b"\xed\xa0\x80", b"(", b"[",
    b"'", b'"', b"\\", "\u202e".encode(), "\u00ad".encode(), "\u2028".encode(), "\u0665".encode(), "\u00b2".encode(), "\ufb01".encode(),
    "e\u0301".encode(), "\u0130".encode(), "\U0001d7d8".encode(), "\ufeff".encode(), b"...", b"[...]", b"1e5", b"0x1", b"1_000", b" ", b"a" * 300,
    b"999:59:59.999", b"00:00:00,000 --> 00:00:00,001", b"inf", b"nan", b"-1", b"&amp;", b"<" * 50, b"{" * 50, b"..", b"~x/", b"://",
)  # fmt: skip
"""Pieces of texts that readers stumble over."""
