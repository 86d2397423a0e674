"""Finds the column headings for a match in a table: those in the map, or those above the row."""

from __future__ import annotations

import re

from citekit.domain.formats import by_name
from citekit.domain.locations import Cells, Lines, Location
from citekit.domain.modality import Modality
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.column_headings import column_headings
from citekit.domain.text_search.matching import LineMatch, shown_row

PROSE = frozenset(
    ("markdown", "rst", "html", "asciidoc", "org", "csv", "tsv", "subtitles", "ssa", "calendar", "bibtex")
)
"""Text formats whose white space has no meaning."""

COLUMNS_LIMIT = 400
"""The maximum number of characters of column headings."""

_TABLE = re.compile(r"Columns: (.+)\. ([\d,]+) rows? below the header\.", re.DOTALL)
_HEADER = re.compile(r"[\d,]+ columns: (.+)", re.DOTALL)


def keeps_white_space(resource_map: ResourceMap) -> bool:
    """Return whether white space in a file is significant, as in code and plain text."""
    file_format = by_name(resource_map.source_path)
    return resource_map.modality is Modality.TEXT and (file_format is None or file_format.name not in PROSE)


def table_columns(resource_map: ResourceMap, location: Location, text: str, match: LineMatch) -> str | None:
    """Return the column headings of the first table row of a match in `text`, or the start of long ones.

    Return None if none are known, or if the match contains them.
    """
    match location:
        case Cells():
            shown = _of_sheet(resource_map, location)
        case Lines() if resource_map.nodes and resource_map.nodes[0].type == "header":
            shown = _of_records(resource_map, location)
        case _:
            shown = None if keeps_white_space(resource_map) else _above(text, match)
    return shown if shown is None or len(shown) <= COLUMNS_LIMIT else f"{shown[:COLUMNS_LIMIT]}..."


def _of_sheet(resource_map: ResourceMap, location: Cells) -> str | None:
    """Return the column headings that the map has for the tables of which `location` is a row, or None."""
    if not location.first:
        return None
    found = []
    for node in resource_map.walk():
        area = node.location
        if not (isinstance(area, Cells) and area.first and area.last and area.sheet == location.sheet):
            continue
        named = _TABLE.fullmatch(node.summary or "")
        if named and area.last[0] - int(named[2].replace(",", "")) < location.first[0] <= area.last[0]:
            found.append((area.first[1], named[1]))
    return ", ".join(names for _, names in sorted(set(found))) or None


def _of_records(resource_map: ResourceMap, location: Lines) -> str | None:
    header = resource_map.nodes[0]
    named = _HEADER.fullmatch(header.summary or "")
    is_below = isinstance(header.location, Lines) and location.first > header.location.last
    return named[1] if named and is_below else None


def _above(text: str, match: LineMatch) -> str | None:
    above = list(filter(str.strip, text[: match.start].split("\n")))
    own = list(filter(str.strip, text[match.start : match.end].split("\n")))
    numbers = range(len(above), len(above) + len(own))
    found = (column_headings([*above, *own], number) for number in numbers)
    shown = next((each for each in found if each is not None), None)
    return None if shown in [shown_row(line) for line in own] else shown
