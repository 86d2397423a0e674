"""Ways to damage a file, each the same for the same generator of random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes, bytes], bytes]
"""Of the data and of other data of the same format: damaged data."""

EXTREMES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)
"""Numbers that a reader may forget to check: nothing, most, and one beyond most."""

NUMBERS = (b"0", b"-1", b"4294967295", b"9223372036854775808", b"1e999", b"NaN", b"99999999999999999999999999")
"""The same where numbers are written out."""


def flipped(random: random.Random, data: bytes, _: bytes) -> bytes:
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


def resized(random: random.Random, data: bytes, _: bytes) -> bytes:
    """Some field of 1 to 8 bytes, which may well be a length, says nothing, most, or -1."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 4))):
        size = random.choice((1, 2, 4, 4, 8))
        value = random.choice(EXTREMES) & ((1 << 8 * size) - 1)
        at = random.randrange(min(len(out), random.choice((256, len(out)))))
        out[at : at + size] = value.to_bytes(size, random.choice(("big", "little")))  # type: ignore[arg-type]
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
