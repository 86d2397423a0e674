"""Combines the H.264 parameter sets of two encodings in one MP4 sample entry (ISO/IEC 14496-15, 5.3.3.1, and ITU-T
H.264, 7.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

SPS, PPS, SEI, IDR = 7, 8, 6, 5

_START_CODE = re.compile(rb"\x00\x00(?:\x00)?\x01")


@frozen
class AvcConfiguration:
    """The `avcC` record of an MP4 file.

    `profile` contains the profile, compatibility, and level bytes. `extensions` are the bytes after the parameter sets.
    """

    profile: bytes
    sps: tuple[bytes, ...]
    pps: tuple[bytes, ...]
    extensions: bytes = b""

    @classmethod
    def read(cls, data: bytes) -> AvcConfiguration | None:
        """Parse `data`. Return None if it is not valid, or if NAL unit lengths do not have four bytes."""
        if len(data) < 7 or data[0] != 1 or data[4] & 3 != 3:
            return None
        sps, offset = _read_sets(data, 6, data[5] & 31)
        if offset >= len(data):
            return None
        pps, offset = _read_sets(data, offset + 1, data[offset])
        return cls(data[1:4], tuple(sps), tuple(pps), data[offset:]) if sps and pps else None

    def with_sets(self, nals: Sequence[bytes]) -> AvcConfiguration:
        """Return a copy of the record to which the parameter sets among `nals` are added."""
        sps = [nal for nal in nals if nal[0] & 31 == SPS]
        pps = [nal for nal in nals if nal[0] & 31 == PPS]
        return evolve(self, sps=(*self.sps, *sps), pps=(*self.pps, *pps))

    def to_bytes(self) -> bytes:
        """Encode the record as bytes."""
        sps = b"".join(len(nal).to_bytes(2, "big") + nal for nal in self.sps)
        pps = b"".join(len(nal).to_bytes(2, "big") + nal for nal in self.pps)
        counts = bytes([0xE0 | len(self.sps)]), bytes([len(self.pps)])
        return b"\x01" + self.profile + b"\xff" + counts[0] + sps + counts[1] + pps + self.extensions

    def set_ids(self) -> set[int]:
        """Return the IDs of the record's parameter sets."""
        return {exp_golomb(nal[4:]) for nal in self.sps} | {exp_golomb(nal[1:]) for nal in self.pps}


def _read_sets(data: bytes, offset: int, count: int) -> tuple[list[bytes], int]:
    found = []
    for _ in range(count):
        size = int.from_bytes(data[offset : offset + 2], "big")
        found.append(data[offset + 2 : offset + 2 + size])
        offset += 2 + size
    return [nal for nal in found if nal], offset


def exp_golomb(data: bytes) -> int:
    """Decode the unsigned Exp-Golomb number at the beginning of `data` (H.264, 9.1)."""
    bits = "".join(f"{byte:08b}" for byte in data[:8])
    zeros = len(bits) - len(bits.lstrip("0"))
    return int(bits[zeros : 2 * zeros + 1] or "1", 2) - 1


def nal_units(annex_b: bytes) -> list[bytes]:
    """Split a byte stream with start codes (H.264, Annex B) into NAL units."""
    return [unit for unit in _START_CODE.split(annex_b) if unit]


def to_mp4_sample(annex_b: bytes) -> bytes:
    """Convert an encoded picture from the Annex B format to an MP4 sample.

    NAL units have lengths instead of start codes. Parameter sets, SEI, and delimiters are removed.
    """
    units = [unit for unit in nal_units(annex_b) if unit[0] & 31 not in (SPS, PPS, SEI, 9)]
    return b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)


def is_idr(sample: bytes) -> bool:
    """Return whether an MP4 sample is an IDR picture, after which no picture refers to one before it."""
    return any(kind == IDR for kind in _nal_types(sample))


def _nal_types(sample: bytes) -> Iterator[int]:
    offset = 0
    while offset + 5 <= len(sample):
        yield sample[offset + 4] & 31
        offset += 4 + int.from_bytes(sample[offset : offset + 4], "big")
