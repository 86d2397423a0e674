"""The bare libraries, each doing only the cut: open, cut, write. Nothing is kept from one to the next."""

from __future__ import annotations

import itertools
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Cut = Callable[[Path], object]
"""Writes the part to that path."""


def pdf(source: Path, pages: Sequence[int]) -> dict[str, Cut]:
    """Pages by three ways of two libraries; `pages` count from 1 and follow one another."""
    import pymupdf
    import pypdfium2

    def pdfium(target: Path) -> None:
        with pypdfium2.PdfDocument(source) as whole, pypdfium2.PdfDocument.new() as part:
            part.import_pages(whole, [number - 1 for number in pages])
            part.save(target)

    def inserted(target: Path) -> None:
        with pymupdf.open(source) as whole, pymupdf.open() as part:
            part.insert_pdf(whole, from_page=pages[0] - 1, to_page=pages[-1] - 1)
            part.save(target, garbage=3, deflate=True, use_objstms=1)

    def selected(target: Path) -> None:
        with pymupdf.open(source) as whole:
            whole.select([number - 1 for number in pages])
            whole.save(target, garbage=3, deflate=True, use_objstms=1)

    return {"pypdfium2": pdfium, "PyMuPDF insert_pdf": inserted, "PyMuPDF select": selected}


def clip(source: Path, start: float, end: float, *, video: bool) -> dict[str, Cut]:
    """Packets copied in process, and by a spawned ffmpeg."""

    def ffmpeg(target: Path) -> None:
        _ffmpeg("-ss", str(start), "-i", str(source), "-t", str(end - start), "-c", "copy", str(target))

    return {
        "PyAV, packets copied": lambda target: _remuxed(source, start, end, target, video),
        "ffmpeg -c copy": ffmpeg,
    }


def exact_clip(source: Path, start: float, end: float) -> dict[str, Cut]:
    """All of the clip encoded anew by a spawned ffmpeg, which is how exact ends are had without thinking."""

    def ffmpeg(target: Path) -> None:
        _ffmpeg(
            "-ss",
            str(start),
            "-i",
            str(source),
            "-t",
            str(end - start),
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-c:a",
            "copy",
            str(target),
        )

    return {"ffmpeg, all re-encoded": ffmpeg}


def crop(source: Path, corners: tuple[float, float, float, float]) -> dict[str, Cut]:
    """A rectangle by Pillow, a JPEG with the quality that we take."""
    from PIL import Image, JpegImagePlugin

    def pillow(target: Path) -> None:
        with Image.open(source) as picture:
            width, height = picture.size
            part = picture.crop(
                (int(corners[0] * width), int(corners[1] * height), int(corners[2] * width), int(corners[3] * height))
            )
            if picture.format == "JPEG":
                part.save(target, quality=95, subsampling=max(0, JpegImagePlugin.get_sampling(picture)))
            else:
                part.save(
                    target, compression="tiff_adobe_deflate" if picture.info.get("compression") != "raw" else "raw"
                )

    return {"Pillow": pillow}


def lines(source: Path, first: int, last: int) -> dict[str, Cut]:
    """Lines by iterating over the file."""

    def islice(target: Path) -> None:
        with source.open("rb") as text, target.open("wb") as out:
            out.writelines(itertools.islice(text, first - 1, last))

    return {"itertools.islice": islice}


def chapter(source: Path, number: int) -> dict[str, Cut]:
    """A document of the spine by zipfile, parsed and written by lxml."""
    from lxml import etree, html

    def lxml(target: Path) -> None:
        with zipfile.ZipFile(source) as book:
            package: Any = etree.fromstring(book.read(_package(book)))
            items = {each.get("id"): each.get("href") for each in package.iterfind(".//{*}manifest/{*}item")}
            spine = [items[each.get("idref")] for each in package.iterfind(".//{*}spine/{*}itemref")]
            folder = _package(book).rpartition("/")[0]
            name = f"{folder}/{spine[number - 1]}" if folder else spine[number - 1]
            target.write_bytes(html.tostring(html.document_fromstring(book.read(name)), encoding="utf-8"))

    return {"zipfile and lxml": lxml}


def _package(book: zipfile.ZipFile) -> str:
    from lxml import etree

    root = etree.fromstring(book.read("META-INF/container.xml")).find(".//{*}rootfile")
    assert root is not None
    return str(root.get("full-path"))


def _remuxed(source: Path, start: float, end: float, target: Path, video: bool) -> None:
    import av

    with av.open(source) as whole, av.open(target, "w") as part:
        first = whole.streams.video[0] if video else whole.streams.audio[0]
        chosen = [first, *(whole.streams.audio[:1] if video else ())]
        made = {stream.index: part.add_stream_from_template(stream) for stream in chosen}
        base = first.time_base
        assert base is not None
        whole.seek(round(start / base), stream=first, backward=True)
        offset: dict[int, int] = {}
        for packet in whole.demux(chosen):
            if packet.dts is None or packet.pts is None or packet.time_base is None:
                continue
            if packet.pts * packet.time_base >= end:
                if packet.stream.index == first.index:
                    break
                continue
            zero = offset.setdefault(packet.stream.index, packet.dts)
            packet.pts, packet.dts = packet.pts - zero, packet.dts - zero
            packet.stream = made[packet.stream.index]
            part.mux(packet)


def _ffmpeg(*arguments: str) -> None:
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-v", "error", "-y", *arguments]
    subprocess.run(command, check=True, capture_output=True)
