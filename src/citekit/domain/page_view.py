"""Defines the data of a page that a viewer shows."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from citekit.domain.source import Source

Corners = tuple[float, float, float, float]
"""The edges (left, top, right, bottom) of a rectangle as fractions of the width and height of an upright page."""

WIDTHS = (320, 640, 960, 1280, 1600, 2000, 2560, 3200)
"""The widths of page pictures in pixels. A requested width is rounded up, at most to the largest, so that pictures can
be reused.
"""

MARKED_PAGES = 20
"""Maximum number of pages whose words are compared with a quote."""


class Layout(StrEnum):
    """How a viewer lays out a file."""

    PAGES = "pages"
    """Pictures of pages, with selectable words."""
    SLIDES = "slides"
    """Slides as HTML."""
    HTML = "html"
    """The whole file as HTML (an SVG file as a picture), with its numbered lines on request."""
    CHAPTERS = "chapters"
    """Chapters as HTML."""
    LINES = "lines"
    """Numbered lines."""
    ROWS = "rows"
    """Rows of the sheets of a workbook."""
    RECORDING = "recording"
    """A video or an audio player."""
    NOTHING = "nothing"
    """Only the map."""


@frozen
class PageSize:
    """The width and height of an upright page, in points for documents and in pixels for pictures."""

    width: float
    height: float


@frozen
class PagePicture:
    """An encoded picture of a page."""

    data: bytes
    media_type: str


@frozen
class SheetRow:
    """A row of a sheet. `cells` are (column, text). Rows and columns count from 1."""

    number: int
    cells: tuple[tuple[int, str], ...]


@frozen
class PageWord:
    """A visible word of a page, with the punctuation attached to it. `line` is the number of its line, from 0."""

    text: str
    box: Corners
    line: int


def is_drawing(source: Source) -> bool:
    """Return whether a file is an SVG drawing, which is both a text and a picture."""
    return source.format.name == "xml" and source.path.suffix.lower() == ".svg"
