"""Small recordings, subtitles, and pictures that may cost much: frames, samples, cues, and sizes without end."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.faults.bill_shapes import Shape, repeated
from tests.faults.hostile.media import box, movie, wav
from tests.faults.hostile.pictures import chunk, page, png, tiff

_SVG = '<svg xmlns="http://www.w3.org/2000/svg">'


def _gif(frames: int, side: int) -> bytes:
    frame = b"\x21\xf9\x04\x08\0\0\0\0\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    return b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + frame * frames + b";"


def _id3(*frames: tuple[bytes, bytes]) -> bytes:
    body = b"".join(kind + struct.pack(">IH", len(data), 0) + data for kind, data in frames)
    size = len(body)
    sized = bytes((size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127))
    return b"ID3\x03\0\0" + sized + body + (b"\xff\xfb\x90\x64" + bytes(413)) * 40


def _chapters_of_id3(count: int) -> bytes:
    chapter = (
        b"c\0" + struct.pack(">IIII", 0, 1000, 0xFFFFFFFF, 0xFFFFFFFF) + b"TIT2" + struct.pack(">IH", 2, 0) + b"\0a"
    )
    return _id3(*[(b"CHAP", chapter)] * count)


def _quicktime_chapters(count: int) -> bytes:
    entry = struct.pack(">QB", 0, 1) + b"a"
    listed = box(b"chpl", struct.pack(">IIB", 0x01000000, 0, min(count, 255)), entry * count)
    return movie(extra=box(b"udta", listed))


def _caf(chunks: int) -> bytes:
    described = b"desc" + struct.pack(">q", 32) + struct.pack(">d4sIIIII", 8000.0, b"lpcm", 0, 2, 1, 1, 16)
    named = b"info" + struct.pack(">q", 4) + bytes(4)
    return b"caff\0\1\0\0" + described + named * chunks + b"data" + struct.pack(">q", -1) + bytes(16_000)


def _riff(chunks: int) -> bytes:
    made = wav()
    at = made.index(b"data")
    return made[:at] + (b"LIST" + struct.pack("<I", 4) + b"INFO") * chunks + made[at:]


def _cue_points(count: int) -> bytes:
    listed = (
        b"cue " + struct.pack("<II", 4 + 24 * count, count) + struct.pack("<II4sIII", 1, 0, b"data", 0, 0, 0) * count
    )
    made = wav()
    at = made.index(b"data")
    return made[:at] + listed + made[at:]


def _uses(levels: int, times: int) -> bytes:
    groups = "".join(f'<g id="g{n}">' + f'<use href="#g{n - 1}"/>' * times + "</g>" for n in range(1, levels))
    return f'{_SVG}<text id="g0">a</text>{groups}<use href="#g{levels - 1}"/></svg>'.encode()


def _defined(piece: str, count: int) -> bytes:
    return (_SVG + "".join(piece.format(n, n + 1) for n in range(count)) + "</svg>").encode()


def _matryoshka(kind: bytes, depth: int) -> bytes:
    made = b""
    for _ in range(depth):
        made = box(kind, made)
    return movie(extra=made)


_WAYS: dict[tuple[str, str], Callable[[], bytes]] = {
    ("a billion samples", "a.mp4"): lambda: movie(samples=10**9, size=1, duration=2**31 - 1),
    ("samples of no size", "a.mp4"): lambda: movie(samples=2**31 - 1, size=0),
    ("tracks", "a.mp4"): lambda: movie(tracks=1500),
    ("chunks", "a.mp4"): lambda: movie(chunks=2**31 - 1),
    ("chapters", "a.mp4"): lambda: _quicktime_chapters(60_000),
    ("boxes", "a.mp4"): lambda: movie(extra=box(b"free") * 100_000),
    ("nested boxes", "a.mp4"): lambda: _matryoshka(b"udta", 5000),
    ("edits", "a.mp4"): lambda: movie(
        edits=box(b"edts", box(b"elst", struct.pack(">II", 0, 70_000) + struct.pack(">Iii", 1, 0, 0x10000) * 70_000))
    ),
    ("a huge picture", "a.mp4"): lambda: movie(width=65_535, height=65_535),
    ("a huge duration", "a.mp4"): lambda: movie(scale=1, duration=2**32 - 1, delta=2**31 - 1),
    ("chunks of RIFF", "a.wav"): lambda: _riff(70_000),
    ("cue points", "a.wav"): lambda: _cue_points(35_000),
    ("channels", "a.wav"): lambda: wav(channels=65_535, rate=2**31 - 1),
    ("a rate of 1", "a.wav"): lambda: wav(rate=1, bits=8, data=bytes(900_000)),
    ("samples of no bits", "a.wav"): lambda: wav(bits=0, data=bytes(900_000), align=0),
    ("chunks", "a.caf"): lambda: _caf(50_000),
    ("frames of ID3", "a.mp3"): lambda: _id3(*[(b"TXXX", b"\0a\0b")] * 60_000),
    ("chapters of ID3", "a.mp3"): lambda: _chapters_of_id3(20_000),
    ("a picture in ID3", "a.mp3"): lambda: _id3((b"APIC", b"\0image/png\0\3\0" + png(20_000, 20_000))),
    ("a text of ID3", "a.mp3"): lambda: _id3((b"TIT2", b"\0" + b"a" * 900_000)),
    ("overlapping cues", "a.srt"): lambda: repeated("1\n00:00:00,000 --> 99:00:00,000\na\n\n", 900_000),
    ("cues of one line", "a.vtt"): lambda: repeated("00:01.000 --> 00:03.000\n", 900_000, "WEBVTT\n\n"),
    ("nested marks", "a.vtt"): lambda: repeated("<v a><c.b><i>", 900_000, "WEBVTT\n\n00:01.000 --> 00:03.000\n"),
    ("styles", "a.vtt"): lambda: repeated("STYLE\n::cue(a) { color: red }\n\n", 900_000, "WEBVTT\n\n"),
    ("styles", "a.ass"): lambda: repeated(
        "Style: a,Arial,20\n", 900_000, "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
    ),
    ("overlapping lines", "a.ass"): lambda: repeated(
        "Dialogue: 0,0:00:00.00,9:00:00.00,a,,0,0,0,,{\\an8\\t(a)}a\n",
        900_000,
        "[Script Info]\nScriptType: v4.00+\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n",
    ),
    ("frames", "a.gif"): lambda: _gif(40_000, 16),
    ("frames on a large canvas", "a.gif"): lambda: _gif(40_000, 5000),
    ("a huge canvas", "a.gif"): lambda: _gif(2, 65_535),
    ("a large picture", "a.png"): lambda: png(13_000, 13_000),
    ("a picture that is one line", "a.png"): lambda: png(90_000_000, 1),
    ("texts", "a.png"): lambda: png(9, 9, *[chunk(b"tEXt", b"a\0b")] * 60_000),
    ("pages", "a.tiff"): lambda: tiff([page(4, 4, 8)] * 8000, tail=bytes(16)),
    ("large pages", "a.tiff"): lambda: tiff([page(9000, 9000, 8)] * 3000, tail=bytes(16)),
    ("pages that repeat", "a.tiff"): lambda: tiff([page(4, 4, 8)] * 20, loop=0, tail=bytes(16)),
    ("entries of a page", "a.tiff"): lambda: tiff([page(4, 4, 8) + [(60_000, 4, 1, 1)] * 60_000], tail=bytes(16)),
    ("uses of uses", "a.svg"): lambda: _uses(12, 12),
    ("a chain of uses", "a.svg"): lambda: _defined('<g id="g{0}"><use href="#g{1}"/><text>a</text></g>', 10_000),
    ("patterns of patterns", "a.svg"): lambda: _defined(
        '<pattern id="p{0}" width="1" height="1"><rect fill="url(#p{1})" width="9" height="9"/></pattern>', 8000
    ),
    ("masks of masks", "a.svg"): lambda: _defined('<mask id="m{0}"><g mask="url(#m{1})"><text>a</text></g></mask>', 8000),
    ("transforms", "a.svg"): lambda: (_SVG + '<g transform="translate(1 1)">' * 250 + "<text>a</text>" * 40_000 + "</g>" * 250 + "</svg>").encode(),
    ("parts of a text", "a.svg"): lambda: (_SVG + "<text>" + '<tspan x="1 2 3 4">a</tspan>' * 30_000 + "</text></svg>").encode(),
}  # fmt: skip

SHAPES: tuple[Shape, ...] = tuple(
    Shape(name, file, make, brief=name == "a rate of 1") for (name, file), make in _WAYS.items()
)
"""Every shape of recordings, subtitles, and pictures."""
