"""Clips of MP3 that begin and end at the sample: frames are copied, and what surrounds the part is declared as padding.

A frame may use bits of the frames before it, so a few of them come first. They are hidden like the delay of an encoder, by
the gapless playback that LAME's tag in the first frame is read for (G. Bouvigne: The "Xing" VBR header, the LAME tag).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.drivers.pyav_streams import readable
from citekit.adapters.extraction.media.copying import Copied
from citekit.adapters.extraction.media.flac import UncopyableError
from citekit.adapters.extraction.media.timeline import Span, rewind
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

DECODER_DELAY = 529
"""Samples that every decoder is late by: players skip them beside those of the encoder."""

HIDDEN = 4096 + DECODER_DELAY
"""Samples before the start that can be hidden: the tag has twelve bits for them."""

_KBIT = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBIT_LOW = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_TAG = 120 + 36
_REPORT_EVERY = 200


@frozen
class Header:
    """What the header of a frame says (ISO/IEC 11172-3, 2.4.1.3); `words` are its four bytes."""

    words: bytes

    @classmethod
    def of(cls, frame: bytes) -> Header:
        """Raises `UncopyableError` where `frame` does not begin with one of layer III."""
        if len(frame) < 4 or frame[0] != 0xFF or frame[1] & 0xE6 != 0xE2 or frame[1] >> 3 & 3 == 1:
            raise UncopyableError
        return cls(frame[:4])

    @property
    def is_first_version(self) -> bool:
        """Whether it is of MPEG-1, not of the low sampling rates of MPEG-2 or 2.5."""
        return self.words[1] & 8 != 0

    @property
    def samples(self) -> int:
        """Samples of one channel in the frame."""
        return 1152 if self.is_first_version else 576

    @property
    def kind(self) -> tuple[int, int, bool]:
        """What all frames of a file have in common: version, sampling rate, whether there is one channel."""
        return self.words[1] & 0xFE, self.words[2] & 0x0C, self.words[3] >> 6 == 3

    @property
    def side_size(self) -> int:
        """Bytes of the side information."""
        mono = self.words[3] >> 6 == 3
        return (17 if mono else 32) if self.is_first_version else (9 if mono else 17)

    def silent(self, rate: int, room: int) -> bytearray:
        """A frame of this kind without sound, of `room` bytes at least."""
        table = _KBIT if self.is_first_version else _KBIT_LOW
        for index, kbit in enumerate(table, 1):
            size = self.samples // 8 * kbit * 1000 // rate
            if size >= room:
                words = bytes((0xFF, self.words[1] | 1, index << 4 | self.words[2] & 0x0C, self.words[3]))
                return bytearray(words + bytes(size - 4))
        raise UncopyableError


def copy_mp3(container: InputContainer, audio: Any, span: Span, path: Path, progress: Progress) -> Copied:
    """Write the frames of `span` to `path`. Raises `UncopyableError` where they cannot be hidden or do not fit together."""
    rate = audio.codec_context.sample_rate
    first, last = round(span.low * rate), round(span.high * rate)
    rewind(container, audio, span.low - 0.5)
    frames, begin = _frames(_reported(readable(container, [audio]), span, progress), rate, first, last)
    step = Header.of(frames[0]).samples
    skipped, end = first - begin, min(last, begin + len(frames) * step)
    if not DECODER_DELAY <= skipped < HIDDEN or end <= first:
        raise UncopyableError
    delay, rest = skipped - DECODER_DELAY, begin + len(frames) * step - end + DECODER_DELAY
    path.write_bytes(_tagged(frames, rate, delay, rest) + b"".join(frames))
    start = first / rate - span.zero
    return Copied(max(start, 0.0), end / rate - span.zero, max(begin / rate - span.zero, 0.0))


def _reported(packets: Iterator[Any], span: Span, progress: Progress) -> Iterator[Any]:
    for number, packet in enumerate(packets):
        if number % _REPORT_EVERY == 0:
            done = float((packet.pts or 0) * packet.time_base) - span.low
            progress(min(max(done, 0.0), span.end - span.start), span.end - span.start, "copying")
        yield packet


def _frames(packets: Iterator[Any], rate: int, first: int, last: int) -> tuple[Sequence[bytes], int]:
    """The frames that sound between samples `first` and `last`, as many before them as can be hidden; where they begin."""
    kept: list[bytes] = []
    begin = following = 0
    kind = None
    for packet in packets:
        frame = bytes(packet)
        header = Header.of(frame)
        at = round(float((packet.pts or 0) * packet.time_base) * rate)
        if not kept:
            begin = following = at
        if abs(at - following) > header.samples // 2 or kind not in (None, header.kind):
            raise UncopyableError
        kind = header.kind
        if following >= last:
            break
        kept.append(frame)
        following += header.samples
        while kept and first - begin >= HIDDEN:
            kept.pop(0)
            begin += header.samples
    if not kept:
        raise UncopyableError
    return kept, begin


def _tagged(frames: Sequence[bytes], rate: int, delay: int, rest: int) -> bytes:
    """The frame without sound that says how many frames follow, and what of them is padding."""
    header = Header.of(frames[0])
    tag = header.silent(rate, 4 + header.side_size + _TAG)
    size = len(tag) + sum(map(len, frames))
    even = max(map(len, frames)) - min(map(len, frames)) <= 1
    body = b"".join((
        b"Info" if even else b"Xing",
        (15).to_bytes(4), len(frames).to_bytes(4), size.to_bytes(4), bytes(n * 256 // 100 for n in range(100)), bytes(4),
        b"Lavc58.13", bytes(12), (delay << 12 | rest).to_bytes(3), bytes(4), size.to_bytes(4), bytes(2),
    ))  # fmt: skip
    at = 4 + header.side_size
    tag[at : at + len(body)] = body
    tag[at + len(body) : at + len(body) + 2] = _crc(bytes(tag[: at + len(body)])).to_bytes(2)
    return bytes(tag)


def _crc(data: bytes) -> int:
    """CRC-16 with the polynomial 0x8005, reflected."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value
