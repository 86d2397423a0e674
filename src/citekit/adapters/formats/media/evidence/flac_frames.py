"""Reads and rewrites the headers of FLAC frames (RFC 9639, section 9), to move frames in the stream."""

from __future__ import annotations

from functools import cache

from attrs import frozen

_BLOCK_SIZES = {
    1: 192,
    **{code: 576 << code - 2 for code in range(2, 6)},
    **{code: 256 << code - 8 for code in range(8, 16)},
}
_VARIABLE_BLOCK_SIZE = 0xF9


@frozen
class FrameHeader:
    """The header of a FLAC frame.

    `samples` is the number of samples in the frame. `number` is the number of the frame, or, if `has_variable_size`, of
    its first sample. `number_bytes` are the bytes that contain `number`, and `length` is the size of the header in
    bytes.
    """

    samples: int
    has_variable_size: bool
    number: int
    number_bytes: slice
    length: int

    @classmethod
    def read(cls, frame: bytes) -> FrameHeader | None:
        """Return the header of `frame`, or None if the header is incomplete or invalid."""
        if len(frame) < 5 or frame[0] != 0xFF or frame[1] & 0xFE != 0xF8:
            return None
        code, rate = frame[2] >> 4, frame[2] & 15
        number_end = 4 + max(8 - (~frame[4] & 0xFF).bit_length(), 1)
        extra = {6: 1, 7: 2}.get(code, 0)
        length = number_end + extra + {12: 1, 13: 2, 14: 2}.get(rate, 0) + 1
        if code == 0 or rate == 15 or length > len(frame) - 2 or _crc8(frame[: length - 1]) != frame[length - 1]:
            return None
        stated_samples = int.from_bytes(frame[number_end : number_end + extra], "big") + 1
        number = _decode_number(frame[4:number_end])
        return cls(
            stated_samples if extra else _BLOCK_SIZES[code], bool(frame[1] & 1), number, slice(4, number_end), length
        )


def renumber(frame: bytes, header: FrameHeader, sample: int) -> bytes:
    """Return a copy of `frame` for a stream with variable frame sizes, in which `sample` is the number of its first
    sample.

    Because a CRC is linear, the new checksum is computed from the two headers, so that damage in the rest is still
    detected.
    """
    new_header = (
        bytes((0xFF, _VARIABLE_BLOCK_SIZE))
        + frame[2:4]
        + _encode_number(sample)
        + frame[header.number_bytes.stop : header.length - 1]
    )
    new_header += bytes((_crc8(new_header),))
    before, after = _crc16(frame[: header.length]), _crc16(new_header)
    checksum = int.from_bytes(frame[-2:], "big") ^ _crc_after_zeros(before ^ after, len(frame) - 2 - header.length)
    return new_header + frame[header.length : -2] + checksum.to_bytes(2, "big")


def stream_info(source: bytes, blocks: tuple[int, int], samples: int) -> bytes:
    """Return the beginning of a FLAC file with `samples` samples.

    `blocks` contains the smallest and the largest number of samples in a frame. Other properties are copied from
    `source`, a STREAMINFO block of 34 bytes. The sizes of frames in bytes, and the MD5 checksum, are marked as unknown.
    """
    shape = int.from_bytes(source[10:18], "big") >> 36 << 36 | samples & (1 << 36) - 1
    sizes = blocks[0].to_bytes(2, "big") + blocks[1].to_bytes(2, "big")
    return b"fLaC\x80\x00\x00\x22" + sizes + bytes(6) + shape.to_bytes(8, "big") + bytes(16)


def bits_per_sample(source: bytes) -> int:
    """Return the number of bits per sample stated in `source`, a STREAMINFO block."""
    return (int.from_bytes(source[10:18], "big") >> 36 & 31) + 1


def _encode_number(number: int) -> bytes:
    """Encode a number of up to 36 bits in extended UTF-8, as FLAC frame headers do."""
    if number < 0x80:
        return bytes((number,))
    tail = 1
    while number >> 6 * tail + (6 - tail):
        tail += 1
    lead = (0xFF << 7 - tail & 0xFF) | number >> 6 * tail
    return bytes((lead, *(0x80 | number >> 6 * position & 0x3F for position in reversed(range(tail)))))


def _decode_number(coded: bytes) -> int:
    number = coded[0] if len(coded) == 1 else coded[0] & 0x7F >> len(coded)
    for byte in coded[1:]:
        number = number << 6 | byte & 0x3F
    return number


def _crc_table(polynomial: int, bits: int) -> list[int]:
    table = []
    for byte in range(256):
        value = byte << bits - 8
        for _ in range(8):
            value = value << 1 ^ (polynomial if value >> bits - 1 else 0)
            value &= (1 << bits) - 1
        table.append(value)
    return table


@cache
def _crc_tables() -> tuple[list[int], list[int]]:
    return _crc_table(0x07, 8), _crc_table(0x8005, 16)


def _crc8(data: bytes) -> int:
    table, value = _crc_tables()[0], 0
    for byte in data:
        value = table[value ^ byte]
    return value


def _crc16(data: bytes) -> int:
    table, value = _crc_tables()[1], 0
    for byte in data:
        value = value << 8 & 0xFF00 ^ table[value >> 8 ^ byte]
    return value


@cache
def _zero_byte_tables() -> list[tuple[list[int], list[int]]]:
    """Return lookup tables, for the high and the low byte, that advance a 16-bit CRC by 1, 2, 4, ... zero bytes."""
    table = _crc_tables()[1]
    leaps = [(table[:], [byte << 8 for byte in range(256)])]
    for _ in range(23):
        high, low = leaps[-1]
        leaps.append(([high[v >> 8] ^ low[v & 255] for v in high], [high[v >> 8] ^ low[v & 255] for v in low]))
    return leaps


def _crc_after_zeros(value: int, count: int) -> int:
    """Return what the CRC `value` becomes after `count` more zero bytes."""
    for high, low in _zero_byte_tables()[: count.bit_length()]:
        if count & 1:
            value = high[value >> 8] ^ low[value & 255]
        count >>= 1
    return value
