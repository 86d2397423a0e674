"""Who cuts what out: the drivers of each kind of place, imported when there is such a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from citekit.bootstrap.late import LateExtractor
from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan

if TYPE_CHECKING:
    from citekit.adapters.drivers.sqlite_index import Index
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.reader import Reader


def late_extractors(
    media: str,
    reader: Callable[[], Reader],
    index: Callable[[], Index | None] = lambda: None,
    password: str | None = None,
) -> Sequence[Extractor]:
    """The extractors, the first of which that can do it does; `media` is the driver that copies clips.

    `index` is where they remember what makes another cut fast; `password` opens PDFs that are locked with it.
    """
    clips = (LateExtractor(_clips, TimeSpan), LateExtractor(_ffmpeg, TimeSpan))
    return (
        LateExtractor(lambda: _pages(index(), password), Pages),
        LateExtractor(_slides, Pages),
        LateExtractor(_lines, Lines),
        LateExtractor(_regions, Box),
        *(reversed(clips) if media == "ffmpeg" else clips),
        LateExtractor(_stills, TimeSpan),
        LateExtractor(lambda: _chapters(reader()), Chapter),
        LateExtractor(_cells, Cells),
        LateExtractor(_comics, Pages),
    )


def _pages(index: Index | None, password: str | None) -> Extractor:
    from citekit.adapters.extraction.pdf import PyMuPdfExtractor

    return PyMuPdfExtractor(index, password)


def _slides() -> Extractor:
    from citekit.adapters.extraction.office import SlideExtractor

    return SlideExtractor()


def _cells() -> Extractor:
    from citekit.adapters.extraction.office import CellsExtractor

    return CellsExtractor()


def _lines() -> Extractor:
    from citekit.adapters.extraction.text import TextExtractor

    return TextExtractor()


def _regions() -> Extractor:
    from citekit.adapters.extraction.image import PillowExtractor

    return PillowExtractor()


def _clips() -> Extractor:
    from citekit.adapters.extraction.media import PyAvClipExtractor

    return PyAvClipExtractor()


def _ffmpeg() -> Extractor:
    from citekit.adapters.extraction.media import FfmpegExtractor

    return FfmpegExtractor()


def _stills() -> Extractor:
    from citekit.adapters.extraction.media import PyAvStillExtractor

    return PyAvStillExtractor()


def _comics() -> Extractor:
    from citekit.adapters.extraction.cbz import CbzExtractor

    return CbzExtractor()


def _chapters(reader: Reader) -> Extractor:
    from citekit.adapters.extraction.epub import EpubExtractor

    return EpubExtractor(reader)
