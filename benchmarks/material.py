"""The files that are cut: real ones where a folder of them is named (CITEKIT_CORPUS), else made ones of the same size."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from attrs import frozen

from benchmarks.places import BENCH, ROOT, SAMPLES

CORPUS = Path(os.environ.get("CITEKIT_CORPUS") or ROOT / ".corpus" / "dev").expanduser()


@frozen
class Material:
    """A file to cut from; `made` where it is not a real one."""

    path: Path
    made: bool

    @property
    def origin(self) -> str:
        """Its name and whether it was made."""
        return f"{self.path.name}{' (made)' if self.made else ''}"


def _file(real: str | None, name: str, make: Callable[[Path], None]) -> Material:
    if real is not None and (CORPUS / real).is_file():
        return Material(CORPUS / real, made=False)
    path = BENCH / "material" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{path.name}")
        make(unfinished)
        unfinished.rename(path)
    return Material(path, made=True)


@cache
def pdf_900() -> Material:
    """A manual of some 900 pages with bookmarks, fonts and cross references."""
    return _file("pdf/lilypond-notation.pdf", "pages-900.pdf", lambda path: _joined_pdf(path, 900))


@cache
def pdf_2400() -> Material:
    """A manual of some 2,400 pages."""
    return _file("pdf/r-fullrefman.pdf", "pages-2400.pdf", lambda path: _joined_pdf(path, 2400))


@cache
def film() -> Material:
    """Ten minutes of H.264 with sound."""
    return _file("video/big-buck-bunny-full.mp4", "film.mp4", _joined_film)


@cache
def sound() -> Material:
    """Ten minutes of sound."""
    return _file(None, "sound.m4a", _repeated_sound)


@cache
def photo() -> Material:
    """A photograph of 20 megapixels."""
    return _file("image/photo-6028x3391.jpg", "photo.jpg", _drawn_photo)


@cache
def tiff() -> Material:
    """A grey picture of 12 megapixels with 16 bits a pixel."""
    return _file(None, "deep.tif", _drawn_tiff)


@cache
def text_9() -> Material:
    """A program text of 9 MB."""
    return _file("text/big-javascript-typescript.js", "text-9.java", lambda path: _repeated_text(path, 9_141_067))


@cache
def text_26() -> Material:
    """A program text of 26 MB."""
    return _file(None, "text-26.java", lambda path: _repeated_text(path, 26_000_000))


@cache
def book() -> Material:
    """An EPUB of a long novel."""
    return _file("book/moby-dick.epub", "novel.epub", _made_book)


def _joined_pdf(path: Path, pages: int) -> None:
    """The sample again and again, its bookmarks too."""
    import pymupdf

    contents: list[list[object]] = []
    with pymupdf.open(SAMPLES / "r-intro.pdf") as part, pymupdf.open() as whole:
        bookmarks = part.get_toc()
        while whole.page_count < pages:
            before = whole.page_count
            last = min(part.page_count, pages - before) - 1
            whole.insert_pdf(part, to_page=last)
            contents += [[level, title, before + page] for level, title, page in bookmarks if 0 < page <= last + 1]
        whole.set_toc(contents)
        whole.save(path, garbage=1, deflate=True)


def _joined_film(path: Path) -> None:
    """The sample again and again as it is, under the sound of another one."""
    endless = ("-stream_loop", "-1", "-i")
    _ffmpeg(
        *endless,
        SAMPLES / "run.mp4",
        *endless,
        SAMPLES / "lena.ogg",
        *_TEN_MINUTES,
        "-c:v",
        "copy",
        "-c:a",
        "aac",
        path,
    )


def _repeated_sound(path: Path) -> None:
    _ffmpeg("-stream_loop", "-1", "-i", SAMPLES / "lena.ogg", *_TEN_MINUTES, "-c:a", "aac", path)


_TEN_MINUTES = ("-t", "600", "-fflags", "+bitexact")


def _ffmpeg(*arguments: str | Path) -> None:
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-v", "error", "-y", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def _drawn_photo(path: Path) -> None:
    from PIL import Image, ImageFilter

    noise = Image.effect_noise((1507, 848), 90).resize((6028, 3391))
    hues = Image.linear_gradient("L").resize((6028, 3391))
    Image.merge("RGB", (noise, hues, noise.filter(ImageFilter.BoxBlur(9)))).save(path, "JPEG", quality=90)


def _drawn_tiff(path: Path) -> None:
    from PIL import Image

    Image.effect_noise((4000, 3000), 60).convert("I").point(lambda value: value * 257).convert("I;16").save(
        path, "TIFF"
    )


def _repeated_text(path: Path, size: int) -> None:
    part = (SAMPLES / "PDDocument.java").read_bytes()
    path.write_bytes((part * (size // len(part) + 1))[:size])


def _made_book(path: Path) -> None:
    from benchmarks.made_book import write

    write(path)
