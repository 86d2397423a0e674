"""Reads the title and the data of a chart from its markup (DrawingML charts, ECMA-376 part 1, 21.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.pptx.text import plain, written
from citekit.adapters.formats.xlsx.values import EPOCH, EPOCH_1904, shown_number

if TYPE_CHECKING:
    from datetime import datetime

    from lxml.etree import _Element

POINTS_LIMIT = 100_000
"""Maximum number of labels or values that are read from one series."""

CELLS_LIMIT = 1_000_000
"""Maximum number of cells in the rows that a group of series shares. The rest is dropped."""

_LABELS = ("cat", "xVal")
_VALUES = ("val", "yVal", "bubbleSize")


@frozen
class Series:
    """A data series of a chart: its name, its labels (the x values of a scatter chart), and its values, by point
    number.
    """

    name: str
    labels: dict[int, str]
    values: tuple[dict[int, str], ...]


def chart_text(space: _Element) -> str:
    """Return the chart's title (or the names of its series) and its data in rows, as text.

    The first row has the names of the series, and each other row a label and the value of each series. Adjacent series
    with the same labels share their rows. `space` is the root element of the chart part.
    """
    epoch = EPOCH_1904 if _is_on(space.find("{*}date1904")) else EPOCH
    found = [_series(each, epoch) for each in space.iterfind("{*}chart/{*}plotArea/*/{*}ser")]
    names = ", ".join(each.name for each in found if each.name)
    rows = [row for group in _groups(found) for row in _rows(group)]
    return "\n".join(filter(None, (_title(space) or names, *rows)))


def _is_on(element: _Element | None) -> bool:
    return element is not None and element.get("val", "1") in ("1", "true")


def _title(space: _Element) -> str:
    title = space.find("{*}chart/{*}title/{*}tx")
    if title is None:
        return ""
    said = written(title.find("{*}rich")) or title.findtext("{*}strRef/{*}strCache/{*}pt/{*}v") or ""
    return " ".join(said.split())


def _series(element: _Element, epoch: datetime) -> Series:
    name = element.find("{*}tx")
    said = "" if name is None else " ".join(_points(name, epoch).values()) or name.findtext("{*}v") or ""
    labels, values = (
        [_points(each, epoch) for kind in kinds for each in element.iterfind(f"{{*}}{kind}")]
        for kinds in (_LABELS, _VALUES)
    )
    return Series(" ".join(said.split()), labels[0] if labels else {}, tuple(values))


def _points(data: _Element, epoch: datetime) -> dict[int, str]:
    """Return the text of each point of chart data by its number; the innermost level for labels with several levels."""
    level = data.find(".//{*}lvl")
    inside = data if level is None else level
    code = inside.findtext(".//{*}formatCode") or "General"
    found: dict[int, str] = {}
    for point in inside.iterfind(".//{*}pt"):
        number = str(point.get("idx") or "")
        if len(found) < POINTS_LIMIT and number.isascii() and number.isdigit() and len(number) < 10:
            text = plain(point.findtext("{*}v") or "").replace("\n", " ")
            is_number = not str(getattr(point.getparent(), "tag", "")).endswith(("strCache", "strLit", "lvl"))
            found[int(number)] = shown_number(text, str(point.get("formatCode") or code), epoch) if is_number else text
    return found


def _groups(found: Sequence[Series]) -> Iterator[list[Series]]:
    """Yield groups of adjacent series that have the same labels or no labels."""
    group: list[Series] = []
    for each in found:
        if group and each.labels and each.labels != group[0].labels:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _rows(group: Sequence[Series]) -> Iterator[str]:
    columns = [(each.name, values) for each in group for values in each.values or ({},)]
    yield "\t".join(["", *(name for name, _ in columns)])
    numbers = sorted({*group[0].labels, *(number for _, values in columns for number in values)})
    for number in numbers[: CELLS_LIMIT // (len(columns) + 1)]:
        yield "\t".join([group[0].labels.get(number, ""), *(values.get(number, "") for _, values in columns)])
