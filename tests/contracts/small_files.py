"""One small real file of every format that `citekit.domain.formats` knows: a function, or a text, for each name.

A format that is new there needs a line here.
"""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from citekit.domain.formats import BY_SUFFIX
from tests.formats.epub.books import write_book
from tests.formats.mobi.kindle import write_fb2, write_mobi

LARGEST = 20_000
"""Bytes of the largest of these files."""

FORMATS = {format.name: format for format in BY_SUFFIX.values()}

TEXTS = {
    "markdown": "# One\n\nText.\n\n## Two\n\nMore.\n",
    "html": "<!DOCTYPE html><html><head><title>Page</title></head><body><h1>One</h1><p>Text.</p></body></html>\n",
    "python": "class Shelf:\n    def add(self, book):\n        return book\n",
    "javascript": "class Shelf {\n  add(book) {\n    return book;\n  }\n}\n",
    "typescript": "interface Shelf {\n  add(book: string): void;\n}\n\nfunction main(): void {}\n",
    "tsx": "export function Shelf(): JSX.Element {\n  return <ul></ul>;\n}\n",
    "java": "class Shelf {\n    void add(String book) {\n    }\n}\n",
    "c": "struct shelf {\n    int books;\n};\n\nint main(void) {\n    return 0;\n}\n",
    "cpp": "namespace books {\nclass Shelf {\n public:\n  void add();\n};\n}\n",
    "csharp": "namespace Books\n{\n    class Shelf\n    {\n        void Add() { }\n    }\n}\n",
    "go": "package books\n\ntype Shelf struct{}\n\nfunc (s Shelf) Add() {}\n",
    "rust": "struct Shelf;\n\nimpl Shelf {\n    fn add(&self) {}\n}\n",
    "ruby": "class Shelf\n  def add(book)\n    book\n  end\nend\n",
    "php": "<?php\nclass Shelf {\n    function add($book) {\n    }\n}\n",
    "bash": "#!/bin/bash\nadd() {\n  echo book\n}\n",
    "perl": "package Shelf;\n\nsub add {\n    return 1;\n}\n\n1;\n",
    "objc": "@interface Shelf : NSObject\n- (void)add;\n@end\n\n@implementation Shelf\n- (void)add {\n}\n@end\n",
    "kotlin": "class Shelf {\n    fun add(book: String) {\n    }\n}\n",
    "swift": "class Shelf {\n    func add(book: String) {\n    }\n}\n",
    "scala": "class Shelf {\n  def add(book: String): Unit = {\n  }\n}\n",
    "dart": "class Shelf {\n  void add(String book) {\n  }\n}\n",
    "zig": "const Shelf = struct {\n    pub fn add() void {}\n};\n",
    "lua": "local function add(book)\n  return book\nend\n",
    "powershell": "function Add-Book {\n    param($Book)\n    $Book\n}\n",
    "elixir": "defmodule Shelf do\n  def add(book) do\n    book\n  end\nend\n",
    "julia": "struct Shelf\n    books\nend\n\nfunction add(book)\n    book\nend\n",
    "haskell": "module Shelf where\n\nadd :: Int -> Int\nadd book = book + 1\n",
    "sql": "CREATE TABLE shelf (\n    book TEXT\n);\n\nSELECT book FROM shelf;\n",
    "css": ".shelf {\n  color: red;\n}\n\n@media print {\n  .shelf { color: black; }\n}\n",
    "scss": "$ink: red;\n\n.shelf {\n  .book { color: $ink; }\n}\n",
    "rst": "Guide\n=====\n\nText.\n\nPart\n----\n\nMore.\n",
    "subtitles": "1\n00:00:01,000 --> 00:00:03,000\nHello there.\n\n2\n00:00:20,000 --> 00:00:22,000\nGoodbye.\n",
    "ssa": (
        "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n"
        "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
        "Dialogue: 0,0:00:01.00,0:00:03.00,Default,Anna,0,0,0,,{\\i1}Hello{\\i0} there.\n"
        "Dialogue: 0,0:00:50.00,0:00:52.00,Default,Ben,0,0,0,,Good\\Nbye.\n"
    ),
    "calendar": (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Shelf//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Oslo\r\n"
        "BEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\n"
        "END:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1@shelf\r\nDTSTAMP:20240501T000000Z\r\n"
        "DTSTART;TZID=Europe/Oslo:20240506T100000\r\nDTEND;TZID=Europe/Oslo:20240506T110000\r\n"
        "SUMMARY:Delivery of shelves\\, at\r\n  last\r\nLOCATION:Hall 3\r\nEND:VEVENT\r\n"
        "BEGIN:VEVENT\r\nUID:2@shelf\r\nDTSTAMP:20240501T000000Z\r\nDTSTART;VALUE=DATE:20240507\r\n"
        "SUMMARY:Inventory\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    ),
    "bibtex": (
        '@string{acm = "ACM Press"}\n\n@book{lamport94,\n  author = {Leslie Lamport},\n  title = "{LaTeX}: A Document System",\n'
        '  publisher = acm,\n  year = 1994\n}\n\n@article{goedel31, author={Kurt G{\\"o}del}, title={On Formally Undecidable'
        " Propositions}, journal={Monatshefte}, year={1931}}\n"
    ),
    "asciidoc": "= Guide\n\nText.\n\n== Part\n\nMore.\n",
    "org": "* Guide\n\nText.\n\n** Part\n\nMore.\n",
    "latex": "\\documentclass{article}\n\\begin{document}\n\\section{Guide}\nText.\n\\subsection{Part}\nMore.\n\\end{document}\n",
    "json": '{\n  "a": [1, 2],\n  "b": {"c": 3}\n}\n',
    "jsonl": '{"a": 1}\n{"a": 2}\n',
    "notebook": (
        '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# One\\n"]},\n'
        '{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": ["x = 1"]}],\n'
        '"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}\n'
    ),
    "yaml": "a:\n  - 1\n  - 2\nb:\n  c: 3\n",
    "toml": '[a]\nb = 1\n\n[[c]]\nd = "e"\n',
    "ini": "[a]\nb = 1\n\n[c]\nd = e\n",
    "csv": "name,pages\nOne,12\nTwo,34\n",
    "tsv": "name\tpages\nOne\t12\nTwo\t34\n",
    "log": "2024-05-01 10:00:00 INFO start\n2024-05-01 10:00:05 WARN slow\n2024-05-01 12:30:00 INFO end\n",
    "xml": '<?xml version="1.0"?>\n<shelf>\n  <book>One</book>\n  <book>Two</book>\n</shelf>\n',
    "text": "CHAPTER 1\n\nIt was a bright day.\n\n\nCHAPTER 2\n\nThen it rained.\n",
}

CHAPTERS = ("<h1>The Beginning</h1><p>It begins with words.</p>", "<h1>The End</h1><p>It ends with words.</p>")

VIDEOS = {
    "mp4": "mpeg4", "quicktime": "mpeg4", "matroska": "mpeg4", "webm": "libvpx", "avi": "mpeg4", "mpeg": "mpeg1video",
    "mpegts": "mpeg2video", "flv": "flv", "wmv": "wmv2", "3gp": "mpeg4",
}  # fmt: skip
"""The encoder of the picture."""

SOUNDS = {
    "mp3": "libmp3lame", "wav": "pcm_s16le", "m4a": "aac", "aac": "aac", "flac": "flac", "ogg": "flac",
    "opus": "libopus", "aiff": "pcm_s16be", "wma": "wmav2", "caf": "pcm_s16be", "wavpack": "wavpack",
}  # fmt: skip

IMAGES = {
    "jpeg": "JPEG", "png": "PNG", "gif": "GIF", "tiff": "TIFF", "webp": "WEBP", "bmp": "BMP", "avif": "AVIF", "heic": "HEIF", "ico": "ICO",
    "ppm": "PPM", "jpeg2000": "JPEG2000",
}  # fmt: skip
"""Pillow's names."""


def make(name: str, folder: Path) -> Path:
    """The file of the format `name`, in `folder`. Raises `LookupError` where nobody said here how it is made."""
    path = folder / f"small{FORMATS[name].suffix}"
    if name in TEXTS:
        path.write_bytes(TEXTS[name].encode())
    elif name in VIDEOS:
        _video(path, VIDEOS[name])
    elif name == "ogv":
        _theora(path)
    elif name in SOUNDS:
        _sound(path, SOUNDS[name])
    elif name in IMAGES:
        path.write_bytes(_image(IMAGES[name]))
    elif name in DOCUMENTS:
        DOCUMENTS[name](path)
    else:
        raise LookupError(
            f"tests/contracts/small_files.py has no file of the format {name!r}: say there how one is made"
        )
    return path


def _video(path: Path, codec: str) -> None:
    """Half a second in 176 x 144, the only size that all of these containers take."""
    import av

    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream(codec, rate=25, options={"deadline": "realtime"} if codec == "libvpx" else {})
        stream.width, stream.height, stream.pix_fmt = 176, 144, "yuv420p"
        for number in range(13):
            shade = bytes([10 * number + 40]) * (176 * 144 * 4)
            output.mux(stream.encode(av.VideoFrame.from_bytes(shade, 176, 144, "rgba").reformat(format="yuv420p")))
        output.mux(stream.encode(None))


def _theora(path: Path) -> None:
    """By the ffmpeg binary, because PyAV has no encoder of Theora."""
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "color=gray:s=176x144:d=0.5"]
    subprocess.run([*command, "-c:v", "libtheora", str(path)], check=True)


def _sound(path: Path, codec: str) -> None:
    """A tenth of a second, silent."""
    import av

    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream(codec, rate=48000, layout="mono")
        if not codec.startswith(("pcm", "flac")):
            stream.bit_rate = 64_000
        frame = av.AudioFrame(format="s16", layout="mono", samples=4800)
        frame.planes[0].update(bytes(9600))
        frame.sample_rate, frame.pts = 48000, 0
        resampler = av.AudioResampler(stream.format.name, "mono", 48000, stream.frame_size or None)
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            output.mux(stream.encode(part))
        output.mux(stream.encode(None))


def _image(kind: str) -> bytes:
    from PIL import Image, ImageDraw

    if kind == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()
    picture = Image.new("RGB", (96, 64), "white")
    ImageDraw.Draw(picture).text((8, 8), "One\nTwo", fill="black", font_size=16)
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def _pdf(path: Path) -> None:
    import pymupdf

    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    with document:
        for title in ("One", "Two"):
            document.new_page(width=200, height=200).insert_text((20, 40), title, fontsize=20)
        document.set_toc([[1, "One", 1], [1, "Two", 2]])
        document.save(str(path), garbage=3, deflate=True)


def _cbz(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in (1, 2):
            archive.writestr(f"page{number}.png", _image("PNG"))


def _docx(path: Path) -> None:
    """The three parts that a reader needs (ECMA-376 part 1, 11.2 and 11.3)."""
    office = "http://schemas.openxmlformats.org"
    word = f"{office}/wordprocessingml/2006/main"
    types = f"""<Types xmlns="{office}/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
    links = f"""<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" Target="word/document.xml"
 Type="{office}/officeDocument/2006/relationships/officeDocument"/></Relationships>"""
    heading = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    rows = ((heading, "One"), ("", "Text of the first part."), (heading, "Two"), ("", "Text of the second part."))
    body = "".join(f"<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>" for style, text in rows)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", links)
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')


def _pptx(path: Path) -> None:
    """A slide with a title; python-pptx's template without the layouts that nothing uses, which are most of it."""
    from pptx import Presentation

    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "One"
    for layout in list(deck.slide_layouts):
        if layout is not deck.slide_layouts[0] and not layout.used_by_slides:
            deck.slide_layouts.remove(layout)
    deck.save(str(path))


def _xlsx(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet: Any = book.active
    for row in (("name", "pages"), ("One", 12), ("Two", 34)):
        sheet.append(row)
    book.save(path)


MESSAGE = (
    b"From: Ann <ann@example.com>\nTo: Bob <bob@example.com>\nSubject: Shelves\nDate: Mon, 6 May 2024 10:00:00 +0000\n"
    b"Content-Type: text/plain\n\nThe shelves have arrived.\n"
)

DOCUMENTS: dict[str, Callable[[Path], object]] = {
    "eml": lambda path: path.write_bytes(MESSAGE),
    "mbox": lambda path: path.write_bytes(b"From ann@example.com Mon May  6 10:00:00 2024\n" + MESSAGE),
    "pdf": _pdf,
    "epub": lambda path: write_book(path, CHAPTERS),
    "mobi": lambda path: write_mobi(path, CHAPTERS),
    "fb2": lambda path: write_fb2(path, "<body><section><title><p>One</p></title><p>Words.</p></section></body>"),
    "cbz": _cbz,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
}
