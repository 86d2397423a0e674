"""H.264 parameter sets: one MP4 sample entry for two encodings (ISO/IEC 14496-15, 5.3.3.1; ITU-T H.264, 7.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

SPS, PPS, SEI, IDR = 7, 8, 6, 5

_START_CODE = re.compile(rb"\x00\x00(?:\x00)?\x01")


@frozen
class AvcConfiguration:
    """An `avcC` record: profile, compatibility and level bytes, parameter sets, and what follows them."""

    profile: bytes
    sps: tuple[bytes, ...]
    pps: tuple[bytes, ...]
    extensions: bytes = b""

    @classmethod
    def read(cls, data: bytes) -> AvcConfiguration | None:
        """The record, or None where `data` is none, or has lengths of other than four bytes."""
        if len(data) < 7 or data[0] != 1 or data[4] & 3 != 3:
            return None
        sps, at = _read_sets(data, 6, data[5] & 31)
        if at >= len(data):
            return None
        pps, at = _read_sets(data, at + 1, data[at])
        return cls(data[1:4], tuple(sps), tuple(pps), data[at:]) if sps and pps else None

    def with_sets(self, nals: Sequence[bytes]) -> AvcConfiguration:
        """The record with the parameter sets among `nals` added."""
        sps = [nal for nal in nals if nal[0] & 31 == SPS]
        pps = [nal for nal in nals if nal[0] & 31 == PPS]
        return evolve(self, sps=(*self.sps, *sps), pps=(*self.pps, *pps))

    def to_bytes(self) -> bytes:
        """The bytes of the record."""
        sps = b"".join(len(nal).to_bytes(2, "big") + nal for nal in self.sps)
        pps = b"".join(len(nal).to_bytes(2, "big") + nal for nal in self.pps)
        counts = bytes([0xE0 | len(self.sps)]), bytes([len(self.pps)])
        return b"\x01" + self.profile + b"\xff" + counts[0] + sps + counts[1] + pps + self.extensions

    def set_ids(self) -> set[int]:
        """The ids that its parameter sets use."""
        return {exp_golomb(nal[4:]) for nal in self.sps} | {exp_golomb(nal[1:]) for nal in self.pps}


def _read_sets(data: bytes, at: int, count: int) -> tuple[list[bytes], int]:
    found = []
    for _ in range(count):
        size = int.from_bytes(data[at : at + 2], "big")
        found.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return [nal for nal in found if nal], at


def exp_golomb(data: bytes) -> int:
    """The first unsigned Exp-Golomb number in `data` (H.264, 9.1)."""
    bits = "".join(f"{byte:08b}" for byte in data[:8])
    zeros = len(bits) - len(bits.lstrip("0"))
    return int(bits[zeros : 2 * zeros + 1] or "1", 2) - 1


def nal_units(annex_b: bytes) -> list[bytes]:
    """The NAL units of a byte stream with start codes."""
    return [unit for unit in _START_CODE.split(annex_b) if unit]


def to_mp4_sample(annex_b: bytes) -> bytes:
    """A picture of a byte stream as an MP4 sample: lengths instead of start codes, parameter sets and notes left out."""
    kept = [unit for unit in nal_units(annex_b) if unit[0] & 31 not in (SPS, PPS, SEI, 9)]
    return b"".join(len(unit).to_bytes(4, "big") + unit for unit in kept)


def is_idr(sample: bytes) -> bool:
    """Whether an MP4 sample is an IDR picture: nothing after it refers to anything before it."""
    return any(kind == IDR for kind in _nal_types(sample))


def _nal_types(sample: bytes) -> Iterator[int]:
    at = 0
    while at + 5 <= len(sample):
        yield sample[at + 4] & 31
        at += 4 + int.from_bytes(sample[at : at + 4], "big")
