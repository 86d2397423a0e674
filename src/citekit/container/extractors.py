"""Who cuts what out: the drivers of each kind of place, imported when there is such a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from citekit.container.lazy_proxy import LateExtractor
from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan

if TYPE_CHECKING:
    from citekit.container.parsers import Parsers
    from citekit.domain.ports.extractor import Extractor

Wrap = Callable[[str, "Extractor"], "Extractor"]
"""Puts something around the extractor of that name."""


def late_extractors(
    media: str, parsers: Callable[[], Parsers], wrap: Wrap = lambda _, made: made
) -> Sequence[Extractor]:
    """The extractors, the first of which that can do it does; `media` is the driver that copies clips."""
    clips = [("clips", TimeSpan), ("ffmpeg", TimeSpan)]
    order = [
        ("pages", Pages),
        ("slides", Pages),
        ("lines", Lines),
        ("xml_lines", Lines),
        ("html_lines", Lines),
        ("regions", Box),
        *(reversed(clips) if media == "ffmpeg" else clips),
        ("stills", TimeSpan),
        ("chapters", Chapter),
        ("cells", Cells),
        ("comics", Pages),
    ]
    return tuple(LateExtractor(_making(name, parsers, wrap), kind) for name, kind in order)


def extractor_called(name: str, parsers: Parsers) -> Extractor:
    """The extractor of that name. Raises `KeyError`."""
    return _MAKERS[name](parsers)


def _making(name: str, parsers: Callable[[], Parsers], wrap: Wrap) -> Callable[[], Extractor]:
    return lambda: wrap(name, extractor_called(name, parsers()))


def _pages(parsers: Parsers) -> Extractor:
    from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor

    return PyMuPdfExtractor(parsers.index, parsers.password)


def _slides(_: Parsers) -> Extractor:
    from citekit.adapters.formats.pptx.extractor import SlideExtractor

    return SlideExtractor()


def _cells(_: Parsers) -> Extractor:
    from citekit.adapters.formats.xlsx.extractor import CellsExtractor

    return CellsExtractor()


def _lines(_: Parsers) -> Extractor:
    from citekit.adapters.formats.shared.line_extractor import TextExtractor

    return TextExtractor()


def _xml_lines(_: Parsers) -> Extractor:
    from citekit.adapters.formats.html.extractor import XmlLinesExtractor
    from citekit.adapters.formats.shared.line_extractor import TextExtractor

    return XmlLinesExtractor(TextExtractor())


def _html_lines(_: Parsers) -> Extractor:
    from citekit.adapters.formats.html.extractor import HtmlLinesExtractor
    from citekit.adapters.formats.html.part import html_part

    return HtmlLinesExtractor(html_part)


def _regions(_: Parsers) -> Extractor:
    from citekit.adapters.formats.image.extractor import PillowExtractor

    return PillowExtractor()


def _clips(_: Parsers) -> Extractor:
    from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor

    return PyAvClipExtractor()


def _ffmpeg(_: Parsers) -> Extractor:
    from citekit.adapters.formats.media.evidence.ffmpeg_program import FfmpegExtractor

    return FfmpegExtractor()


def _stills(_: Parsers) -> Extractor:
    from citekit.adapters.formats.media.evidence.still import PyAvStillExtractor

    return PyAvStillExtractor()


def _comics(_: Parsers) -> Extractor:
    from citekit.adapters.formats.comic.extractor import CbzExtractor

    return CbzExtractor()


def _chapters(parsers: Parsers) -> Extractor:
    from citekit.adapters.formats.epub.extractor import EpubExtractor

    return EpubExtractor(parsers.reader, parsers.books_as_seen)


_MAKERS: dict[str, Callable[[Parsers], Extractor]] = {
    "pages": _pages,
    "slides": _slides,
    "lines": _lines,
    "xml_lines": _xml_lines,
    "html_lines": _html_lines,
    "regions": _regions,
    "clips": _clips,
    "ffmpeg": _ffmpeg,
    "stills": _stills,
    "chapters": _chapters,
    "cells": _cells,
    "comics": _comics,
}
