"""Defines the data of a page that a viewer shows: its size, its picture, and its words with their boxes."""

from __future__ import annotations

from attrs import frozen

from citekit.domain.source import Source

Corners = tuple[float, float, float, float]
"""The edges (left, top, right, bottom) of a rectangle in fractions of the width and height of an upright page."""


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
    """A row of a sheet with its number, from 1, and the texts of its cells as (column, text). Columns count from 1."""

    number: int
    cells: tuple[tuple[int, str], ...]


@frozen
class PageWord:
    """A visible word of a page. `line` is the number of its line, from 0. Words without a space between them, such as
    Chinese characters, are one word.
    """

    text: str
    box: Corners
    line: int


def is_drawing(source: Source) -> bool:
    """Return whether a file is an SVG drawing, which is both a text and a picture."""
    return source.format.name == "xml" and source.path.suffix.lower() == ".svg"
