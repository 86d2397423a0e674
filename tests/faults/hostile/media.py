"""Hostile media: scripts and containers that name other files or addresses, lies about time and size, names that are options."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

from tests.faults.hostile.case import Bait, Case

Fill = Callable[[Path, Bait], Path]

_HLS = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\n{path}\n#EXTINF:10.0,\nfile://{path}\n#EXTINF:10.0,\n{url}\n#EXTINF:10.0,\nconcat:{path}|{url}\n#EXT-X-ENDLIST\n"
_HLS_KEY = '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-KEY:METHOD=AES-128,URI="{url}"\n#EXT-X-MAP:URI="{path}"\n#EXTINF:10.0,\nbait.ts\n#EXT-X-ENDLIST\n'
_CONCAT = "ffconcat version 1.0\nfile '{path}'\nfile '{url}'\noption safe 0\nfile 'subfile,,start,0,end,9,,:{path}'\n"
_DASH = '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT9S"><BaseURL>{url}</BaseURL><Period><AdaptationSet mimeType="video/mp4"><Representation id="a" bandwidth="1"><BaseURL>file://{path}</BaseURL><SegmentBase indexRange="0-9"/></Representation></AdaptationSet></Period></MPD>'
_SDP = (
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {port} RTP/AVP 96\na=rtpmap:96 H264/90000\n"
)
_ASX = '<ASX version="3.0"><ENTRY><REF HREF="{url}"/><REF HREF="file://{path}"/></ENTRY></ASX>'
_SMIL = '<smil><body><video src="{url}"/><video src="{path}"/></body></smil>'
_XSPF = '<playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList><track><location>{url}</location></track></trackList></playlist>'
_RAM = "rtsp://127.0.0.1:{port}/bait\n{url}\n"
_IMF = '<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2013"><Id>urn:uuid:0</Id></CompositionPlaylist>'
_TEE = "[f=mp4]{path}|[f=mp4]{url}\n"
_VOBSUB = "# VobSub index file, v7\nid: en, index: 0\ntimestamp: 00:00:01:000, filepos: 000000000\n"
_AVISYNTH = 'DirectShowSource("{path}")\n'
_WEBVTT_NOTE = "#!AVISYNTH\n"

_SCRIPTS = {
    "hls": _HLS, "hls-key": _HLS_KEY, "concat": _CONCAT, "dash": _DASH, "sdp": _SDP, "asx": _ASX, "smil": _SMIL, "xspf": _XSPF,
    "ram": _RAM, "imf": _IMF, "tee": _TEE, "vobsub": _VOBSUB, "avisynth": _AVISYNTH,
}  # fmt: skip

_NAMES = ("a.mp4", "a.mov", "a.avi", "a.m2ts", "a.mkv", "a.mp3", "a.wav", "a.mpg", "a.aac")


def _script(text: str, name: str, before: bytes = b"") -> Fill:
    def make(folder: Path, bait: Bait) -> Path:
        said = (
            text.replace("{path}", str(bait.file.with_name("bait.ts")))
            .replace("{url}", bait.url)
            .replace("{port}", str(bait.port))
        )
        path = folder / name
        path.write_bytes(before + said.encode())
        return path

    return make


def _id3_hls(folder: Path, bait: Bait) -> Path:
    """A playlist behind what says that it is MP3."""
    return _script(_HLS, "a.mp3", b"ID3\x03\0\0\0\0\0\0")(folder, bait)


def _sync_hls(folder: Path, bait: Bait) -> Path:
    return _script(_HLS, "a.m2ts", b"\x47" + b"\xff" * 187)(folder, bait)


def box(kind: bytes, *parts: bytes) -> bytes:
    """A box of ISO 14496-12."""
    body = b"".join(parts)
    return struct.pack(">I", 8 + len(body)) + kind + body


def _full(kind: bytes, body: bytes, flags: int = 0) -> bytes:
    return box(kind, struct.pack(">I", flags), body)


_HEAD = box(b"ftyp", b"isom\0\0\2\0isomiso2mp41")
_MATRIX = struct.pack(">9i", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def movie(
    reference: bytes = b"", *, scale: int = 1000, duration: int = 5000, width: int = 64, height: int = 64, samples: int = 10,
    tracks: int = 1, size: int = 100, delta: int = 500, offset: int = 40, chunks: int = 1, kind: bytes = b"mp4v", edits: bytes = b"", extra: bytes = b"",
) -> bytes:  # fmt: skip
    """An MP4 that says what it is told to say; its samples are zeros."""
    reference = reference or _full(b"url ", b"", 1)
    info = box(b"dinf", _full(b"dref", struct.pack(">I", 1) + reference))
    entry = box(
        kind,
        bytes(6)
        + struct.pack(">H", 1)
        + bytes(16)
        + struct.pack(">HH", width & 0xFFFF, height & 0xFFFF)
        + struct.pack(">II", 0x480000, 0x480000)
        + bytes(4)
        + struct.pack(">H", 1)
        + bytes(32)
        + struct.pack(">Hh", 24, -1),
    )
    table = box(
        b"stbl",
        _full(b"stsd", struct.pack(">I", 1) + entry),
        _full(b"stts", struct.pack(">III", 1, samples, delta & 0xFFFFFFFF)),
        _full(b"stsc", struct.pack(">IIII", 1, 1, samples, 1)),
        _full(b"stsz", struct.pack(">II", size, samples)),
        _full(b"stco", struct.pack(">I", chunks) + struct.pack(">I", offset)),
    )
    handler = _full(b"hdlr", bytes(4) + b"vide" + bytes(12) + b"x\0")
    media = box(
        b"mdia",
        _full(b"mdhd", struct.pack(">IIIIHH", 0, 0, scale, duration, 0x55C4, 0)),
        handler,
        box(b"minf", _full(b"vmhd", bytes(8), 1), info, table),
    )
    track = box(
        b"trak",
        _full(
            b"tkhd",
            struct.pack(">IIIII", 0, 0, 1, 0, duration)
            + bytes(16)
            + _MATRIX
            + struct.pack(">II", width << 16 & 0xFFFFFFFF, height << 16 & 0xFFFFFFFF),
            7,
        ),
        edits,
        media,
    )
    head = _full(
        b"mvhd",
        struct.pack(">IIIIIH", 0, 0, scale, duration, 0x10000, 0x100)
        + bytes(10)
        + _MATRIX
        + bytes(24)
        + struct.pack(">I", 2),
    )
    return _HEAD + box(b"mdat", bytes(2000)) + box(b"moov", head, track * tracks, extra)


def _alias(bait: Bait) -> bytes:
    """An alias of classic Mac OS, as FFmpeg reads it, that leads to the bait."""
    path = str(bait.file.with_name("bait.mp4")).encode()
    body = bytearray(150)
    body[4:6] = struct.pack(">H", 150)
    body[10:11] = b"\x04"
    body[11:15] = b"disk"
    body[50:51] = b"\x08"
    body[51:59] = b"bait.mp4"
    struct.pack_into(">hh", body, 130, 0, 0)
    tail = struct.pack(">hH", 2, len(path)) + path + struct.pack(">hH", -1, 0)
    return _full(b"alis", bytes(body) + tail)


def _movie(name: str, content: Callable[[Bait], bytes]) -> Fill:
    def make(folder: Path, bait: Bait) -> Path:
        (folder / name).write_bytes(content(bait))
        return folder / name

    return make


def _video(
    path: Path, *, seconds: float = 1.0, cover: bytes = b"", subtitles: str = "", attachment: bytes = b""
) -> Path:
    """A short real film: Matroska or MP4, of the muxer that the name asks for."""
    import av

    with av.open(f"file:{path}", "w") as out:
        stream = out.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        if attachment:
            out.add_attachment("bait.ttf", "application/x-truetype-font", attachment)
        for number in range(int(seconds * 10)):
            frame = av.VideoFrame(64, 64, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes([number * 20 % 256]) * plane.buffer_size)
            frame.pts = number
            for packet in stream.encode(frame):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


def _named(name: str) -> Fill:
    """An honest film of a name that means something to FFmpeg, to a shell or to a URL."""

    def make(folder: Path, bait: Bait) -> Path:
        (folder / "x").mkdir()
        made = _video(folder / "x" / "a.mkv")
        path = folder / name.replace("{port}", str(bait.port))
        path.write_bytes(made.read_bytes())
        for beside in ("frame1.mkv", "bait1.mkv", "bait01.mkv"):
            (folder / beside).write_bytes(made.read_bytes())
        return path

    return make


def _beside(text: str, suffix: str) -> Fill:
    """An honest film with hostile subtitles beside it."""

    def make(folder: Path, _: Bait) -> Path:
        path = _video(folder / "a.mkv", seconds=3)
        (folder / f"a{suffix}").write_bytes(text.encode("utf-8", "surrogatepass"))
        return path

    return make


def _attached(folder: Path, _: Bait) -> Path:
    return _video(folder / "a.mkv", attachment=b"\0\1\0\0 EvilMarker")


def _truncated(folder: Path, _: Bait) -> Path:
    path = _video(folder / "a.mp4", seconds=2)
    path.write_bytes(path.read_bytes()[:700])
    return path


def _ebml(ident: bytes, body: bytes, size: int | None = None) -> bytes:
    length = len(body) if size is None else size
    return ident + (1 << 56 | length).to_bytes(8, "big") + body


_EBML_HEAD = _ebml(
    b"\x1a\x45\xdf\xa3",
    b"\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x88matroska\x42\x87\x81\x04\x42\x85\x81\x02",
)


def _matroska(*parts: bytes, size: int | None = None) -> bytes:
    return _EBML_HEAD + _ebml(b"\x18\x53\x80\x67", b"".join(parts), size)


def _linked(bait: Bait) -> bytes:
    """A segment that says which files go before and after it, and that its chapters are in them."""
    info = _ebml(
        b"\x15\x49\xa9\x66",
        _ebml(b"\x3c\x83\xab", str(bait.file).encode())
        + _ebml(b"\x3e\x83\xbb", bait.url.encode())
        + _ebml(b"\x3e\xb9\x23", bytes(16)),
    )
    return _matroska(info, _tracks(1))


def _tracks(count: int, width: bytes = b"\x40", codec: bytes = b"V_MPEG4/ISO/ASP") -> bytes:
    entries = b""
    for number in range(count):
        video = _ebml(b"\xe0", _ebml(b"\xb0", width) + _ebml(b"\xba", width))
        entries += _ebml(
            b"\xae",
            _ebml(b"\xd7", (number + 1).to_bytes(4, "big"))
            + _ebml(b"\x73\xc5", (number + 1).to_bytes(4, "big"))
            + b"\x83\x81\x01"
            + _ebml(b"\x86", codec)
            + video,
        )
    return _ebml(b"\x16\x54\xae\x6b", entries)


def _deep_ebml(_: Bait) -> bytes:
    body = b""
    for _level in range(3000):
        body = _ebml(b"\xb6", body)
    return _matroska(_tracks(1), _ebml(b"\x10\x43\xa7\x70", _ebml(b"\x45\xb9", body)))


def _tag_bomb(_: Bait) -> bytes:
    tag = _ebml(b"\x67\xc8", _ebml(b"\x45\xa3", b"TITLE") + _ebml(b"\x44\x87", b"x" * 1000))
    return _matroska(_tracks(1), _ebml(b"\x12\x54\xc3\x67", _ebml(b"\x73\x73", tag * 20_000)))


def _chapters(count: int, start: int) -> Callable[[Bait], bytes]:
    def make(_: Bait) -> bytes:
        atoms = b"".join(
            _ebml(
                b"\xb6",
                _ebml(b"\x73\xc4", (n + 1).to_bytes(4, "big"))
                + _ebml(b"\x91", (start * n & 2**64 - 1).to_bytes(8, "big"))
                + _ebml(b"\x80", _ebml(b"\x85", b"<script>\x1b[2J" + b"c" * 50)),
            )
            for n in range(count)
        )
        return _matroska(_tracks(1), _ebml(b"\x10\x43\xa7\x70", _ebml(b"\x45\xb9", atoms)))

    return make


def wav(
    rate: int = 8000,
    channels: int = 1,
    bits: int = 16,
    claimed: int = 0xFFFFFFFF,
    data: bytes = bytes(16_000),
    align: int | None = None,
    tag: int = 1,
) -> bytes:
    """A WAV that says what it is told to say."""
    align = channels * bits // 8 & 0xFFFF if align is None else align
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * align & 0xFFFFFFFF, align, bits)
    return (
        b"RIFF"
        + struct.pack("<I", claimed)
        + b"WAVEfmt "
        + struct.pack("<I", len(form))
        + form
        + b"data"
        + struct.pack("<I", claimed)
        + data
    )


def _avi(fields: tuple[int, ...], streams: int = 1, tail: bytes = b"", scale: int = 1, rate: int = 10) -> bytes:
    head = b"avih" + struct.pack("<I", 56) + struct.pack("<14I", *fields)
    body = struct.pack(
        "<4s4sIHHIIIIIIIIhhhh", b"vids", b"XVID", 0, 0, 0, 0, scale, rate, 0, 0xFFFFFFFF, 0, 0, 0, 0, 0, 64, 64
    )
    form = struct.pack("<IiiHHIIiiII", 40, 64, 64, 1, 24, 0x44495658, 0, 0, 0, 0, 0)
    stream = b"strh" + struct.pack("<I", len(body)) + body + b"strf" + struct.pack("<I", len(form)) + form
    listed = (b"LIST" + struct.pack("<I", 4 + len(stream)) + b"strl" + stream) * streams
    lists = b"LIST" + struct.pack("<I", 4 + len(head) + len(listed)) + b"hdrl" + head + listed
    frames = b"LIST" + struct.pack("<I", 4 + len(tail)) + b"movi" + tail
    return b"RIFF" + struct.pack("<I", 4 + len(lists) + len(frames)) + b"AVI " + lists + frames


def _gab2(bait: Bait) -> bytes:
    """A subtitle stream of an AVI that is a playlist, the trick of 2016 (CVE-2016-1897)."""
    text = _HLS.replace("{path}", str(bait.file)).replace("{url}", bait.url).encode()
    body = b"GAB2\0" + struct.pack("<HI", 2, 2) + b"a\0" + struct.pack("<HI", 4, len(text)) + text
    stream = struct.pack("<4s4sIHHIIIIIIIIhhhh", b"txts", b"\0\0\0\0", 0, 0, 0, 0, 1, 10, 0, 10, 0, 0, 0, 0, 0, 0, 0)
    made = _avi(
        (100_000, 0, 0, 16, 10, 0, 2, 0, 64, 64, 0, 0, 0, 0),
        tail=b"01sb" + struct.pack("<I", len(body)) + body + bytes(len(body) % 2),
    )
    part = (
        b"LIST"
        + struct.pack("<I", 4 + 8 + len(stream) + 8)
        + b"strl"
        + b"strh"
        + struct.pack("<I", len(stream))
        + stream
        + b"strf\0\0\0\0"
    )
    place = made.index(b"LIST", 20 + 4)
    place = made.index(b"movi") - 8
    grown = made[:place] + part + made[place:]
    size = struct.unpack("<I", grown[16:20])[0] + len(part)
    return grown[:4] + struct.pack("<I", len(grown) - 8) + grown[8:16] + struct.pack("<I", size) + grown[20:]


_HUGE = 0xFFFFFFFF
_CUES = "".join(f"{n}\n00:00:00,{n % 900:03} --> 00:00:02,000\n{{\\an8}}<b>x{n}</b>\n\n" for n in range(100_000))
_ASS = (
    "[Script Info]\n[Events]\nFormat: Layer, Start, End, Style, Text\n"
    + "Dialogue: 0,0:00:00.00,0:00:02.00,D,{\\p1"
    + "\\t(" * 50_000
    + "}x\n"
)

_MAKERS: dict[str, Fill] = {
    **{f"{script}-named-{name}": _script(text, name) for script, text in _SCRIPTS.items() for name in _NAMES},
    **{f"{script}-as-text": _script(text, f"a.{script}") for script, text in _SCRIPTS.items()},
    "hls-behind-id3": _id3_hls,
    "hls-behind-a-sync-byte": _sync_hls,
    "hls-as-m3u8": _script(_HLS, "a.m3u8"),
    "avi-subtitle-playlist": _movie("a.avi", _gab2),
    "mov-reference-url": _movie("a.mov", lambda bait: movie(_full(b"url ", f"file://{bait.file.with_name('bait.mp4')}\0".encode()))),
    "mov-reference-http": _movie("a.mov", lambda bait: movie(_full(b"url ", f"{bait.url}\0".encode()))),
    "mov-reference-alias": _movie("a.mov", lambda bait: movie(_alias(bait))),
    "mov-reference-movie": _movie("a.mov", lambda bait: _HEAD + box(b"moov", box(b"rmra", box(b"rmda", _full(b"rdrf", b"url " + struct.pack(">I", 60) + bait.url.encode()))))),
    "mkv-linked-segments": _movie("a.mkv", _linked),
    "mkv-attachment": _attached,
    "mkv-endless": _movie("a.mkv", lambda _: _matroska(_tracks(1), size=2**56 - 2)),
    "mkv-5000-streams": _movie("a.mkv", lambda _: _matroska(_tracks(5000))),
    "mkv-wide": _movie("a.mkv", lambda _: _matroska(_tracks(1, b"\x7f\xff\xff\xff"))),
    "mkv-deep": _movie("a.mkv", _deep_ebml),
    "mkv-tags": _movie("a.mkv", _tag_bomb),
    "mkv-50000-chapters": _movie("a.mkv", _chapters(50_000, 10**6)),
    "mkv-chapters-back-in-time": _movie("a.mkv", _chapters(500, -(10**9))),
    "mp4-lasts-49-days": _movie("a.mp4", lambda _: movie(duration=_HUGE, scale=1000)),
    "mp4-lasts-130-years": _movie("a.mp4", lambda _: movie(duration=_HUGE, scale=1)),
    "mp4-scale-of-zero": _movie("a.mp4", lambda _: movie(scale=0)),
    "mp4-scale-of-2-to-32": _movie("a.mp4", lambda _: movie(scale=_HUGE)),
    "mp4-of-65535-squared": _movie("a.mp4", lambda _: movie(width=65_535, height=65_535)),
    "mp4-of-nothing-squared": _movie("a.mp4", lambda _: movie(width=0, height=0)),
    "mp4-a-billion-samples": _movie("a.mp4", lambda _: movie(samples=10**9, size=1)),
    "mp4-two-hundred-million-samples": _movie("a.mp4", lambda _: movie(samples=2 * 10**8, size=1)),
    "mp4-ten-million-samples-of-nothing": _movie("a.mp4", lambda _: movie(samples=10**7, size=0)),
    "mp4-samples-beyond": _movie("a.mp4", lambda _: movie(offset=0x7FFFFFFF, size=0x7FFFFFF)),
    "mp4-samples-over-the-head": _movie("a.mp4", lambda _: movie(offset=0, size=2000)),
    "mp4-no-time-passes": _movie("a.mp4", lambda _: movie(delta=0)),
    "mp4-time-goes-back": _movie("a.mp4", lambda _: movie(delta=-500)),
    "mp4-endless-pictures": _movie("a.mp4", lambda _: movie(delta=0x7FFFFFFF)),
    "mp4-3000-tracks": _movie("a.mp4", lambda _: movie(tracks=3000)),
    "mp4-edits": _movie("a.mp4", lambda _: movie(edits=box(b"edts", _full(b"elst", struct.pack(">I", 50_000) + struct.pack(">IiI", 1, 0, 0x10000) * 50_000)))),
    "mp4-edit-far-ahead": _movie("a.mp4", lambda _: movie(edits=box(b"edts", _full(b"elst", struct.pack(">IIiI", 1, _HUGE, 0x7FFFFFFF, 0x10000))))),
    "mp4-deep-boxes": _movie("a.mp4", lambda _: movie(extra=_nested(2000))),
    "mp4-box-of-2-to-63": _movie("a.mp4", lambda _: _HEAD + struct.pack(">I4sQ", 1, b"moov", 2**63 - 1)),
    "mp4-unknown-codec": _movie("a.mp4", lambda _: movie(kind=b"evil")),
    "mp4-raw-pictures": _movie("a.mov", lambda _: movie(kind=b"raw ", width=8000, height=8000)),
    "mp4-cover-bomb": _movie("a.mp4", lambda _: movie(extra=_cover())),
    "mp4-only-a-head": _movie("a.mp4", lambda _: _HEAD),
    "mp4-truncated": _truncated,
    "avi-no-rate": _movie("a.avi", lambda _: _avi((0, 0, 0, 16, _HUGE, 0, 1, 0, 64, 64, 0, 0, 0, 0), scale=0, rate=0)),
    "avi-rate-of-2-to-32": _movie("a.avi", lambda _: _avi((1, 0, 0, 16, _HUGE, 0, 1, 0, 64, 64, 0, 0, 0, 0), scale=1, rate=_HUGE)),
    "avi-65535-streams": _movie("a.avi", lambda _: _avi((1, 0, 0, 16, 1, 0, 65_535, 0, 64, 64, 0, 0, 0, 0), streams=3000)),
    "wav-claims-4-gigabytes": _movie("a.wav", lambda _: wav()),
    "wav-rate-of-2-to-32": _movie("a.wav", lambda _: wav(rate=_HUGE)),
    "wav-rate-of-2-to-31": _movie("a.wav", lambda _: wav(rate=2**31 - 1)),
    "wav-rate-of-one": _movie("a.wav", lambda _: wav(rate=1)),
    "wav-rate-of-zero": _movie("a.wav", lambda _: wav(rate=0)),
    "wav-65535-channels": _movie("a.wav", lambda _: wav(channels=65_535)),
    "wav-no-channels": _movie("a.wav", lambda _: wav(channels=0)),
    "wav-no-bits": _movie("a.wav", lambda _: wav(bits=0, align=0)),
    "wav-unknown": _movie("a.wav", lambda _: wav(tag=0xFFFF)),
    "wav-of-other-codec": _movie("a.wav", lambda _: wav(tag=0x55)),
    "aac-of-noise": _movie("a.aac", lambda _: b"\xff\xf1\x50\x80\x02\x1f\xfc" * 50_000),
    "mp3-tag-of-256-megabytes": _movie("a.mp3", lambda _: b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + b"APIC" + bytes(200)),
    "mp3-of-noise": _movie("a.mp3", lambda _: b"\xff\xfb\x90\x00" + bytes(range(256)) * 4000),
    "flac-claims-2-to-36-samples": _movie("a.flac", lambda _: b"fLaC\x80\0\0\x22" + b"\x10\0\x10\0" + bytes(6) + (8000 << 44 | 15 << 36 | 2**36 - 1).to_bytes(8, "big") + bytes(16) + b"\xff\xf8" + bytes(500)),
    "ogg-pages-of-nothing": _movie("a.ogg", lambda _: (b"OggS\0\2" + b"\xff" * 8 + bytes(12) + b"\xff" + b"\xff" * 255) * 3000),
    "ogg-time-of-2-to-63": _movie("a.ogg", lambda _: b"OggS\0\2" + struct.pack("<q", 2**63 - 1) + bytes(12) + b"\1\x1e\1vorbis" + bytes(30)),
    "transport-stream-of-noise": _movie("a.m2ts", lambda _: (b"\x47\x40\0\x10\0" + b"\xff" * 183) * 20_000),
    "transport-stream-of-programs": _movie("a.m2ts", lambda _: b"".join(b"\x47" + struct.pack(">H", 0x4000 | n % 8000) + b"\x10\0\2\xb0\xff" + bytes(180) for n in range(20_000))),
    "flv-scripts": _movie("a.flv", lambda _: b"FLV\1\5\0\0\0\x09\0\0\0\0\x12\0\xff\xff" + bytes(7) + b"\2\0\x0aonMetaData" + b"\x08\0\0\0\1\0\1a" * 8000),
    "asf-of-nothing": _movie("a.wmv", lambda _: bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + struct.pack("<QIBB", 2**63, 2**31, 1, 2) + bytes(5000)),
    "name-a-pattern": _named("frame%d.mkv"),
    "name-a-long-pattern": _named("bait%02d.mkv"),
    "name-an-option": _named("-i.mkv"),
    "name-a-protocol": _named("http:bait.mkv"),
    "name-a-concat": _named("concat:a.mkv|bait1.mkv"),
    "name-a-pipe": _named("pipe:0.mkv"),
    "name-a-glob": _named("bait*.mkv"),
    "name-with-newline": _named("a\nfile 'bait1.mkv'\n.mkv"),
    "name-with-quotes": _named("a'; touch bait; '.mkv"),
    "name-with-shell": _named("$(touch bait) `id` & |.mkv"),
    "name-subfile": _named("subfile,,start,0,end,0,,:bait1.mkv"),
    "subtitles-100000-cues": _beside(_CUES, ".srt"),
    "subtitles-script": _beside("1\n00:00:00,000 --> 00:00:02,000\n<script>alert(1)</script>\x1b[2J<b><i><u>\n\n", ".srt"),
    "subtitles-negative": _beside("1\n-00:00:05,000 --> 00:00:01,000\na\n\n2\n99:99:99,999 --> 00:00:00,000\nb\n\n", ".srt"),
    "subtitles-beyond-the-end": _beside("1\n00:00:00,000 --> 99:00:00,000\na\n\n2\n98:00:00,000 --> 99:00:00,000\nb\n\n", ".srt"),
    "subtitles-overlapping": _beside("".join(f"{n}\n00:00:00,000 --> 00:00:03,000\nwords {n}\n\n" for n in range(20_000)), ".srt"),
    "subtitles-ass": _beside(_ASS, ".ass"),
    "subtitles-vtt-regions": _beside("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:99999999:00:00.000,MPEGTS:-1\n\nREGION\nid:a\n\n00:00.000 --> 00:02.000 region:a position:999999999%\n<c.a><v Bob>&#x110000;&lt;script&gt;\n", ".vtt"),
    "subtitles-nul": _beside("1\n00:00:00,000 --> 00:00:02,000\n\0\0\0\ufeff\u202e\n", ".srt"),
}  # fmt: skip


def _nested(levels: int) -> bytes:
    body = b""
    for _ in range(levels):
        body = box(b"udta", body)
    return body


def _cover() -> bytes:
    from tests.faults.hostile.pictures import png

    item = box(b"covr", box(b"data", struct.pack(">II", 14, 0), png(20_000, 20_000)))
    return box(b"udta", _full(b"meta", _full(b"hdlr", bytes(4) + b"mdir" + bytes(13)) + box(b"ilst", item)))


_BRIEF = {"hls-named-a.mp4", "mov-reference-http"}

CASES = [
    Case(
        "media",
        f"{prefix}{name}",
        make,
        way=way,
        seconds=30,
        megabytes=1024,
        brief=name in _BRIEF and way == "file",
        absent=(b"EvilMarker",),
    )
    for way, prefix in (("file", ""), ("ffmpeg", "ffmpeg-"))
    for name, make in _MAKERS.items()
]
