"""Hostile pictures: bombs by size, frames and text chunks, directories that run in circles, files that are two things."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.faults.hostile.case import Bait, Case
from tests.faults.hostile.pictures import chunk, page, png, tiff, zeros


def _gif(frames: int, width: int, height: int, *, shown: int = 1) -> bytes:
    """Frames of `shown` pixels on a canvas of any claimed size."""
    frame = b"\x21\xf9\x04\x08\0\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, shown, shown, 0) + b"\x02\x02\x44\x01\0"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + frame * frames + b";"


def _apng(frames: int, width: int, height: int) -> bytes:
    control = chunk(b"acTL", struct.pack(">II", frames, 0))
    first = chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, width, height, 0, 0, 1, 1, 0, 0))
    body = b""
    for number in range(1, min(frames, 20_000)):
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", 2 * number - 1, 1, 1, 0, 0, 1, 1, 0, 0))
        body += chunk(b"fdAT", struct.pack(">I", 2 * number) + zlib.compress(b"\0\0"))
    made = png(width, height, control, first)
    return made[:-12] + body + made[-12:]


def _bmp(
    width: int, height: int, *, bits: int = 24, offset: int = 54, compression: int = 0, tail: bytes = bytes(64)
) -> bytes:
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", offset + len(tail), 0, 0, offset) + head + tail


def _jpeg(**more: object) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    picture = Image.new("RGB", (64, 48), "white")
    for x in range(32):
        picture.putpixel((x, x), (255, 0, 0))
    picture.save(out, "JPEG", **more)
    return out.getvalue()


def _resized_jpeg(width: int, height: int) -> bytes:
    data = bytearray(_jpeg())
    place = data.index(b"\xff\xc0") + 5
    data[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def _progressive(scans: int) -> bytes:
    """Many scans over one large picture: each costs a walk over all of it (CVE-2018-11813 and kin)."""
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (8000, 8000), 128).save(out, "JPEG", progressive=True)
    data = out.getvalue()
    start = data.rindex(b"\xff\xda")
    end = data.rindex(b"\xff\xd9")
    return data[:start] + data[start:end] * scans + b"\xff\xd9"


def _with_exif(entries: bytes) -> bytes:
    data, body = _jpeg(), b"Exif\0\0" + entries
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[2:]


def _exif(tag: int, kind: int, count: int, value: int) -> bytes:
    return b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHII", tag, kind, count, value) + b"\0\0\0\0"


def _webp(width: int, height: int) -> bytes:
    body = (
        b"VP8X"
        + struct.pack("<I", 10)
        + b"\x10\0\0\0"
        + (width - 1).to_bytes(3, "little")
        + (height - 1).to_bytes(3, "little")
    )
    bits = struct.pack("<I", (width - 1 & 0x3FFF) | (height - 1 & 0x3FFF) << 14)
    body += b"VP8L" + struct.pack("<I", 5 + 11) + b"\x2f" + bits + bytes(11)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _animated_webp(frames: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    first = Image.new("RGB", (16, 16))
    rest = [Image.new("RGB", (16, 16), (n % 256, n // 256, 0)) for n in range(1, frames)]
    first.save(out, "WEBP", save_all=True, append_images=rest, duration=1, lossless=True, method=0)
    return out.getvalue()


def _ico(count: int, inner: bytes, *, width: int = 0) -> bytes:
    entry = struct.pack("<BBBBHHII", width, width, 0, 0, 1, 32, len(inner), 6 + 16 * count)
    return struct.pack("<HHH", 0, 1, count) + entry * count + inner


def _ppm(text: bytes) -> bytes:
    return text + bytes(256)


def _avif(width: int, height: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (64, 64)).save(out, "AVIF")
    return out.getvalue().replace(
        b"ispe\0\0\0\0" + struct.pack(">II", 64, 64), b"ispe\0\0\0\0" + struct.pack(">II", width, height)
    )


def _jpeg2000(width: int, height: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (64, 64)).save(out, "JPEG2000")
    data = out.getvalue()
    size = struct.pack(">II", height, width)
    return data.replace(struct.pack(">II", 64, 64), size)


def _jpeg2000_tiles() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (64, 64)).save(out, "JPEG2000", no_jp2=True)
    data = bytearray(out.getvalue())
    place = data.index(b"\xff\x51") + 6
    data[place : place + 8] = struct.pack(">II", 10_000, 10_000)
    data[place + 16 : place + 24] = struct.pack(">II", 1, 1)
    return bytes(data)


def _mpo(count: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (32, 32)).save(out, "MPO", save_all=True, append_images=[Image.new("RGB", (32, 32), "red")] * 3)
    return out.getvalue().replace(struct.pack("<HHII", 0xB001, 4, 1, 4), struct.pack("<HHII", 0xB001, 4, 1, count))


def _tiled_tiff() -> bytes:
    entries = [
        (256, 4, 1, 2**31 - 1),
        (257, 4, 1, 2**31 - 1),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (277, 3, 1, 1),
        (322, 4, 1, 16),
        (323, 4, 1, 16),
        (324, 4, 0xFFFFFFF, 8),
        (325, 4, 0xFFFFFFF, 8),
    ]
    return tiff([entries])


def _deflated_tiff(width: int, height: int) -> bytes:
    data = zeros(width * height)
    head = tiff([page(width, height, 122, compression=8)])
    return head.ljust(122, b"\0") + data


def _pages(count: int) -> bytes:
    size = 2 + 9 * 12 + 4
    strip = 8 + count * size
    return tiff([page(4, 4, strip)] * count, tail=bytes(16))


def _file(name: str, content: Callable[[], bytes]) -> Callable[[Path, Bait], Path]:
    def make(folder: Path, _: Bait) -> Path:
        (folder / name).write_bytes(content())
        return folder / name

    return make


def _case(name: str, file: str, content: Callable[[], bytes], **more: object) -> Case:
    return Case("images", name, _file(file, content), **{"seconds": 30, "megabytes": 1536, **more})  # type: ignore[arg-type]


_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="file:///etc/passwd"/><script>alert(1)</script></svg>'
_EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(/etc/passwd) run\n"

CASES = [
    _case("png-of-30000-squared", "a.png", lambda: png(30_000, 30_000), refused=True),
    _case("png-of-13000-squared", "a.png", lambda: png(13_000, 13_000), megabytes=2048, seconds=60),
    _case("png-of-colour-13000-squared", "a.png", lambda: png(13_000, 13_000, depth=8, colour=6), megabytes=2600, seconds=90),
    _case("png-of-sixteen-bits", "a.png", lambda: png(13_000, 13_000, depth=16, colour=6), megabytes=2600, seconds=90),
    _case("png-interlaced", "a.png", lambda: png(9_000, 9_000, interlaced=1), megabytes=2048, seconds=60),
    _case("png-of-2-to-31", "a.png", lambda: png(2**31 - 1, 2**31 - 1, data=b""), refused=True),
    _case("png-one-pixel-high", "a.png", lambda: png(100_000_000, 1), seconds=60, megabytes=2048),
    _case("png-one-pixel-wide", "a.png", lambda: png(1, 100_000_000, data=zeros(200_000_000)), seconds=60, megabytes=2048),
    _case("png-text-bomb", "a.png", lambda: png(8, 8, chunk(b"zTXt", b"Comment\0\0" + zeros(2**30)))),
    _case("png-thousand-text-bombs", "a.png", lambda: png(8, 8, *[chunk(b"zTXt", b"Comment%d\0\0" % n + zeros(2**20)) for n in range(300)])),
    _case("png-itxt-bomb", "a.png", lambda: png(8, 8, chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zeros(2**28)))),
    _case("png-profile-bomb", "a.png", lambda: png(8, 8, chunk(b"iCCP", b"x\0\0" + zeros(2**30)))),
    _case("png-exif-loop", "a.png", lambda: png(8, 8, chunk(b"eXIf", _exif(0x8769, 4, 1, 8)))),
    _case("png-of-many-chunks", "a.png", lambda: png(8, 8, chunk(b"tEXt", b"a\0b") * 200_000)),
    _case("png-without-pixels", "a.png", lambda: png(64, 64, data=b"")),
    _case("png-too-few-pixels", "a.png", lambda: png(64, 64, data=zlib.compress(bytes(10)))),
    _case("png-too-many-pixels", "a.png", lambda: png(64, 64, data=zeros(2**30))),
    _case("png-zero-size", "a.png", lambda: png(0, 0, data=b"")),
    _case("apng-claims-2-to-31-frames", "a.png", lambda: _apng(2**31 - 1, 8, 8)),
    _case("apng-large-canvas", "a.png", lambda: _apng(3000, 4000, 4000), seconds=60),
    _case("gif-of-50000-frames", "a.gif", lambda: _gif(50_000, 8, 8)),
    _case("gif-frames-on-a-large-canvas", "a.gif", lambda: _gif(2_000, 12_000, 12_000), seconds=60, megabytes=2600),
    _case("gif-frames-on-a-medium-canvas", "a.gif", lambda: _gif(5_000, 4_000, 4_000), seconds=60),
    _case("gif-of-65535-squared", "a.gif", lambda: _gif(1, 65_535, 65_535)),
    _case("gif-lzw-without-end", "a.gif", lambda: _gif(1, 8, 8)[:-3] + b"\xff" + b"\x44" * 255 * 2000),
    _case("jpeg-of-65535-squared", "a.jpg", lambda: _resized_jpeg(65_535, 65_535), refused=True, brief=True),
    _case("jpeg-of-13000-squared", "a.jpg", lambda: _resized_jpeg(13_000, 13_000), megabytes=2048, seconds=60),
    _case("jpeg-2000-scans", "a.jpg", lambda: _progressive(60), seconds=60),
    _case("jpeg-many-segments", "a.jpg", lambda: _jpeg()[:2] + b"\xff\xfe\0\x03a" * 300_000 + _jpeg()[2:]),
    _case("jpeg-restart-flood", "a.jpg", lambda: _jpeg()[:-2] + b"\xff\xd0\xff\xd1" * 1_000_000),
    _case("jpeg-exif-orientation-lie", "a.jpg", lambda: _with_exif(_exif(0x0112, 3, 1, 60_000)), refused=False),
    _case("jpeg-exif-orientation-text", "a.jpg", lambda: _with_exif(_exif(0x0112, 2, 0xFFFFFFFF, 8)), refused=False),
    _case("jpeg-exif-huge-count", "a.jpg", lambda: _with_exif(_exif(0x9286, 7, 0xFFFFFFF0, 8)), refused=False),
    _case("jpeg-exif-loop", "a.jpg", lambda: _with_exif(_exif(0x8769, 4, 1, 8)), refused=False),
    _case("jpeg-turned", "a.jpg", lambda: _with_exif(_exif(0x0112, 3, 1, 6)), refused=False),
    _case("jpeg-half", "a.jpg", lambda: _jpeg()[:400]),
    _case("jpeg-and-archive", "a.jpg", lambda: _jpeg() + b"PK\3\4" + b"x" * 5000 + b"%PDF-1.7\n/JavaScript", absent=(b"/JavaScript",), refused=False),
    _case("jpeg-and-script", "a.jpg", lambda: _jpeg(comment=b"<script>alert(1)</script><?php system('id');?>"), refused=False),
    _case("mpo-of-many", "a.jpg", lambda: _mpo(0x7FFFFFFF)),
    _case("tiff-loop", "a.tif", lambda: tiff([page(4, 4, 8), page(4, 4, 8)], loop=0)),
    _case("tiff-own-loop", "a.tif", lambda: tiff([page(4, 4, 8)], loop=0)),
    _case("tiff-of-20000-pages", "a.tif", lambda: _pages(20_000), seconds=60, output=128),
    _case("tiff-of-2-to-32", "a.tif", lambda: tiff([page(2**32 - 1, 2**32 - 1, 8)]), refused=True),
    _case("tiff-tiles-without-end", "a.tif", _tiled_tiff, refused=True),
    _case("tiff-deflate-bomb", "a.tif", lambda: _deflated_tiff(13_000, 13_000), megabytes=2048, seconds=60),
    _case("tiff-strip-beyond", "a.tif", lambda: tiff([page(64, 64, 2**31)])),
    _case("tiff-many-strips", "a.tif", lambda: tiff([page(64, 10_000_000, 8, rows=1)])),
    _case("tiff-rows-of-zero", "a.tif", lambda: tiff([page(64, 64, 8, rows=0)])),
    _case("tiff-of-65535-samples", "a.tif", lambda: tiff([page(64, 64, 8, samples=65_535)])),
    _case("tiff-many-entries", "a.tif", lambda: tiff([[(n, 7, 0xFFFFFFF, 8) for n in range(60_000)]])),
    _case("tiff-unknown-compression", "a.tif", lambda: tiff([page(64, 64, 8, compression=34_712)], tail=bytes(5000))),
    _case("tiff-old-jpeg", "a.tif", lambda: tiff([page(64, 64, 8, compression=6)], tail=bytes(5000))),
    _case("bigtiff-loop", "a.tif", lambda: b"II+\0\x08\0\0\0" + struct.pack("<QQ", 16, 0) + struct.pack("<Q", 16)),
    _case("webp-of-16384-squared", "a.webp", lambda: _webp(16_384, 16_384)),
    _case("webp-canvas-lie", "a.webp", lambda: _webp(2**24, 2**24)),
    _case("webp-of-3000-frames", "a.webp", lambda: _animated_webp(3000), seconds=60),
    _case("bmp-of-2-to-31", "a.bmp", lambda: _bmp(2**31 - 1, 2**31 - 1), refused=True),
    _case("bmp-negative", "a.bmp", lambda: _bmp(-64, -64)),
    _case("bmp-pixels-within-header", "a.bmp", lambda: _bmp(64, 64, offset=0)),
    _case("bmp-pixels-beyond", "a.bmp", lambda: _bmp(64, 64, offset=0x7FFFFFFF)),
    _case("bmp-run-lengths", "a.bmp", lambda: _bmp(10_000, 10_000, bits=8, compression=1, tail=b"\xff\0" * 100_000)),
    _case("bmp-claimed-pixels", "a.bmp", lambda: _bmp(13_000, 13_000), megabytes=2048),
    _case("ico-of-65535", "a.ico", lambda: _ico(65_535, png(8, 8))),
    _case("ico-with-a-bomb", "a.ico", lambda: _ico(1, png(30_000, 30_000))),
    _case("ico-within-ico", "a.ico", lambda: _ico(1, _ico(1, png(8, 8)))),
    _case("avif-claims-65535", "a.avif", lambda: _avif(65_535, 65_535)),
    _case("avif-claims-13000", "a.avif", lambda: _avif(13_000, 13_000), megabytes=2048),
    _case("jpeg2000-claims-much", "a.jp2", lambda: _jpeg2000(100_000, 100_000)),
    _case("jpeg2000-claims-13000", "a.jp2", lambda: _jpeg2000(13_000, 13_000), megabytes=2600, seconds=90),
    _case("jpeg2000-tiles", "a.j2k", _jpeg2000_tiles, seconds=60),
    _case("ppm-claims-much", "a.ppm", lambda: _ppm(b"P6 99999 99999 255\n"), refused=True),
    _case("ppm-claims-13000", "a.ppm", lambda: _ppm(b"P6 13000 13000 255\n"), megabytes=2048),
    _case("ppm-long-number", "a.ppm", lambda: _ppm(b"P6 " + b"9" * 1_000_000 + b" 1 255\n")),
    _case("ppm-comment-without-end", "a.ppm", lambda: b"P6 #" + b"a" * 20_000_000),
    _case("ppm-plain-tokens", "a.pgm", lambda: b"P2 3000 3000 255\n" + b"1" * 10_000_000),
    _case("pgm-maximum", "a.pgm", lambda: _ppm(b"P5 64 64 99999999\n")),
    _case("svg-named-png", "a.png", lambda: _SVG, refused=True),
    _case("eps-named-jpg", "a.jpg", lambda: _EPS, refused=True),
    _case("pdf-named-png", "a.png", lambda: b"%PDF-1.7\n" + b"x" * 100),
    _case("html-named-gif", "a.gif", lambda: b"<html><script>alert(1)</script>" * 10, refused=True),
    _case("gif-that-is-script", "a.gif", lambda: b"GIF89a/*" + b"a" * 5000 + b"*/=1;alert(1)"),
]  # fmt: skip
