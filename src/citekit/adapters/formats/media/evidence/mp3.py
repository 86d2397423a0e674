"""Cuts MP3 clips that are exact to the sample: frames are copied, and the samples outside the span become padding.

A frame overlaps the previous frame, and can use data stored in earlier frames, the bit reservoir (ISO/IEC 11172-3,
2.4.2.7). The clip therefore also contains the previous frame (MPEG-2: two), and before it a silent frame with the bit
reservoir. The LAME tag (G. Bouvigne: MP3 Info Tag, revision 1) declares these frames as encoder delay, which gapless
players skip.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from attrs import define, frozen

from citekit.adapters.formats.media.evidence.containers import UncopyableError
from citekit.adapters.formats.media.evidence.stream_copy import ClipTimes
from citekit.adapters.formats.media.evidence.timeline import Span, seek
from citekit.adapters.formats.media.streams import read_packets
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

DECODER_DELAY = 529
"""The delay of a decoder, in samples. Players skip it in addition to the encoder delay."""

_EARLIER_FRAMES = 64
"""The number of frames before the start that are read, more than a bit reservoir can span."""

_MPEG1_BIT_RATES = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MPEG2_BIT_RATES = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_TAG_SIZE = 120 + 36
_REPORT_EVERY = 200


@frozen
class Mp3Header:
    """The header of an MP3 frame (ISO/IEC 11172-3, 2.4.1.3). `words` are its four bytes."""

    words: bytes

    @classmethod
    def parse(cls, frame: bytes) -> Mp3Header:
        """Return the header of `frame`. Raise `UncopyableError` if `frame` does not start with a layer III header."""
        if len(frame) < 4 or frame[0] != 0xFF or frame[1] & 0xE6 != 0xE2 or frame[1] >> 3 & 3 == 1:
            raise UncopyableError
        return cls(frame[:4])

    @property
    def is_mpeg1(self) -> bool:
        """Whether the frame is MPEG-1, not MPEG-2 or 2.5, which have lower sampling rates."""
        return self.words[1] & 8 != 0

    @property
    def samples(self) -> int:
        """The number of samples per channel in the frame."""
        return 1152 if self.is_mpeg1 else 576

    @property
    def stream_type(self) -> tuple[int, int, bool]:
        """The properties that all frames of a file share: MPEG version, sampling rate, and whether it is mono."""
        return self.words[1] & 0xFE, self.words[2] & 0x0C, self.words[3] >> 6 == 3

    @property
    def preroll_frames(self) -> int:
        """The number of preceding frames that a decoder needs, because the filters of adjacent frames overlap."""
        return 1 if self.is_mpeg1 else 2

    @property
    def side_info_size(self) -> int:
        """The size of the frame's side information in bytes."""
        mono = self.words[3] >> 6 == 3
        return (17 if mono else 32) if self.is_mpeg1 else (9 if mono else 17)

    @property
    def reservoir_size(self) -> int:
        """The maximum number of bytes of previous frames that a frame can use."""
        return 511 if self.is_mpeg1 else 255

    def main_data(self, frame: bytes) -> bytes:
        """Return the bytes of `frame` after the side information, which later frames can also use."""
        return frame[4 + (0 if self.words[1] & 1 else 2) + self.side_info_size :]

    def silent_frame(self, rate: int, tail: bytes) -> bytes:
        """Return a silent frame with the same stream properties that ends with the bytes `tail`.

        Raise `UncopyableError` if `tail` is too long for a frame with the sampling rate `rate`.
        """
        table = _MPEG1_BIT_RATES if self.is_mpeg1 else _MPEG2_BIT_RATES
        for index, kbit in enumerate(table, 1):
            size = self.samples // 8 * kbit * 1000 // rate
            if size >= 4 + self.side_info_size + len(tail):
                words = bytes((0xFF, self.words[1] | 1, index << 4 | self.words[2] & 0x0C, self.words[3]))
                return words + bytes(size - 4 - len(tail)) + tail
        raise UncopyableError


def copy_mp3(container: InputContainer, audio: Any, span: Span, path: Path, progress: Progress) -> ClipTimes:
    """Write the frames of `span` to an MP3 file at `path`.

    Raise `UncopyableError` if the frames cannot form one continuous stream, or if a tag cannot declare the encoder
    delay.
    """
    rate = audio.codec_context.sample_rate
    first, last = round(span.low * rate), round(span.high * rate)
    seek(container, audio, span.low - 1.0)
    with path.open("wb") as file:
        writer = _Mp3Writer(file, rate)
        writer.copy_range(_with_progress(read_packets(container, [audio]), span, progress), first, last)
        end = min(last, writer.end)
        delay, padding = first - writer.begin - DECODER_DELAY, writer.end - end + DECODER_DELAY
        if end <= first or not 0 <= delay < 4096:
            raise UncopyableError
        file.seek(0)
        file.write(_info_frame(writer, rate, delay, padding))
    start = first / rate - span.zero
    return ClipTimes(max(start, 0.0), end / rate - span.zero, max(writer.decodable_from / rate - span.zero, 0.0))


@define
class _Mp3Writer:
    """Writes the frames of an MP3 clip, from `begin` to `end`.

    Positions are sample numbers of the source. The frames are decoded correctly from `decodable_from` on.
    """

    file: BinaryIO
    rate: int
    header: Mp3Header | None = None
    count: int = 0
    size: int = 0
    begin: int = 0
    decodable_from: int = 0
    end: int = 0

    def copy_range(self, packets: Iterator[Any], first: int, last: int) -> None:
        """Write the frames with the samples from `first` to `last`, and the earlier frames that they need.

        Raise `UncopyableError` if frames are missing or the properties of the stream change.
        """
        earlier: deque[bytes] = deque(maxlen=_EARLIER_FRAMES)
        for packet in packets:
            frame = bytes(packet)
            header = Mp3Header.parse(frame)
            at = round(float((packet.pts or 0) * packet.time_base) * self.rate)
            if self.header is None:
                self.header, self.end = header, at
            if abs(at - self.end) > header.samples // 2 or self.header.stream_type != header.stream_type:
                raise UncopyableError
            if self.end >= last:
                break
            if self.end + header.samples <= first:
                earlier.append(frame)
            else:
                self._write_start(header, earlier)
                self._write(frame)
            self.end += header.samples
        if not self.count:
            raise UncopyableError

    def _write_start(self, header: Mp3Header, earlier: deque[bytes]) -> None:
        """Write a placeholder for the tag frame, a silent frame with the bit reservoir, and the preroll before the
        first frame.
        """
        if self.count:
            return
        self.file.write(header.silent_frame(self.rate, bytes(_TAG_SIZE)))
        preroll = [earlier.pop() for _ in range(header.preroll_frames) if earlier][::-1]
        reservoir = b"".join(header.main_data(frame) for frame in earlier)
        self.decodable_from = self.end - len(preroll) * header.samples
        self.begin = self.decodable_from - header.samples
        self._write(
            header.silent_frame(self.rate, reservoir[-header.reservoir_size :].rjust(header.reservoir_size, b"\0"))
        )
        for frame in preroll:
            self._write(frame)

    def _write(self, frame: bytes) -> None:
        self.file.write(frame)
        self.count += 1
        self.size += len(frame)


def _with_progress(packets: Iterator[Any], span: Span, progress: Progress) -> Iterator[Any]:
    for number, packet in enumerate(packets):
        if number % _REPORT_EVERY == 0:
            done = float((packet.pts or 0) * packet.time_base) - span.low
            progress(min(max(done, 0.0), span.end - span.start), span.end - span.start, "copying")
        yield packet


def _info_frame(writer: _Mp3Writer, rate: int, delay: int, padding: int) -> bytes:
    """Return the silent first frame. Its tag contains the number of frames, the delay, and the padding in samples."""
    if writer.header is None:
        raise UncopyableError
    tag = bytearray(writer.header.silent_frame(rate, bytes(_TAG_SIZE)))
    size = (len(tag) + writer.size).to_bytes(4)
    seek_table = bytes(n * 256 // 100 for n in range(100))
    body = b"".join((
        b"Xing", (15).to_bytes(4), writer.count.to_bytes(4), size, seek_table, bytes(4),
        b"Lavc58.13", bytes(12), (delay << 12 | padding).to_bytes(3), bytes(4), size, bytes(2),
    ))  # fmt: skip
    offset = 4 + writer.header.side_info_size
    tag[offset : offset + len(body)] = body
    tag[offset + len(body) : offset + len(body) + 2] = _crc(bytes(tag[: offset + len(body)])).to_bytes(2)
    return bytes(tag)


def _crc(data: bytes) -> int:
    """Return the CRC-16 of `data` with the reflected polynomial 0x8005."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value
