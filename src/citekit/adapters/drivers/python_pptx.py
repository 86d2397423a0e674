"""python-pptx, given only the markup of a presentation, each part of it bounded and without a document type."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.drivers.office_package import OfficePackage
from citekit.domain.errors import CiteKitError, LocationMalformed, SourceUnsupported
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

DEPTH_LIMIT = 32
"""Levels of groups on a slide that are looked into."""

SHAPES_LIMIT = 5000
"""Shapes of one slide that are looked at."""

DAMAGED: tuple[type[Exception], ...] = (
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
    ValueError,
    AssertionError,
    NotImplementedError,
    RecursionError,
    OverflowError,
)
"""What python-pptx raises of its own accord where a file is not as the standard says, besides its own exceptions."""


def table() -> dict[type[Exception], type[CiteKitError]]:
    """From the exceptions that reading a presentation raises to ours; subclasses included."""
    from lxml import etree
    from pptx.exc import PythonPptxError

    return dict.fromkeys((PythonPptxError, etree.Error, zipfile.BadZipFile, *DAMAGED), SourceUnsupported)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Work on the presentation called `name` whose errors become ours."""
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table()) as error:
        ours = next(ours for theirs, ours in table().items() if isinstance(error, theirs))
        detail = " ".join(str(error).split())[:200]
        raise ours(
            f"{name} cannot be read as a presentation: it is damaged or not as it should be ({detail})."
        ) from error


def presentation(package: OfficePackage) -> Presentation:
    """The presentation without its media, which stand as empty parts. Raises `SourceUnsupported`, `SourceUnreadable`."""
    import pptx

    package.main("presentation")
    with translated(package.path.name):
        return pptx.Presentation(io.BytesIO(_markup(package)))


def _markup(package: OfficePackage) -> bytes:
    """The package with all its markup, and with nothing in its other parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in package.names:
            marked = name.lower().endswith((".xml", ".rels", ".vml"))
            archive.writestr(zipfile.ZipInfo(name), package.read(name) if marked else b"")
    return out.getvalue()


@frozen
class Placed:
    """A shape of a slide: its `kind` (`text`, `table`, `chart`, `figure`), its own words, and its box where it has one."""

    kind: str
    title: str
    text: str
    box: Box | None


def slide_text(slide: Slide) -> str:
    """The words of a slide as they are read: its title first, then the rest in the order of the file."""
    return "\n".join(filter(None, (each.text for each in shapes(slide, 1, 1))))


def notes_text(slide: Slide) -> str:
    """The speaker's notes; "" where there are none."""
    if not slide.has_notes_slide:
        return ""
    frame = slide.notes_slide.notes_text_frame
    return "" if frame is None else _plain(frame.text)


def title_of(slide: Slide) -> str:
    """The text of the title placeholder, else the first line of the slide's text; "" where it has none."""
    title = slide.shapes.title
    said = _plain(title.text_frame.text) if title is not None and title.has_text_frame else ""
    return " ".join(said.split()) or next((line.strip() for line in slide_text(slide).split("\n") if line.strip()), "")


def is_hidden(slide: Slide) -> bool:
    """Whether a slide is left out when the presentation is shown."""
    return slide._element.get("show") in ("0", "false")


def shapes(slide: Slide, width: int, height: int) -> list[Placed]:
    """What is on a slide of that size (EMU), groups opened, the title first; pictures of slides hold no text."""
    title = slide.shapes.title
    found = [] if title is None else [_placed(title, _same, width, height)]
    own = None if title is None else title._element
    for shape, place in _walk(slide.shapes, _same, 0):
        if len(found) >= SHAPES_LIMIT:
            break
        if shape._element is not own:
            found.append(_placed(shape, place, width, height))
    return found


Place = Callable[[float, float], tuple[float, float]]


def _same(x: float, y: float) -> tuple[float, float]:
    return x, y


def _walk(among: Iterable[Any], place: Place, depth: int) -> Iterator[tuple[Any, Place]]:
    for shape in among:
        if hasattr(shape, "shapes"):
            if depth < DEPTH_LIMIT:
                yield from _walk(shape.shapes, _inside(shape, place), depth + 1)
        else:
            yield shape, place


def _inside(group: Any, place: Place) -> Place:
    """Where the points of a group's own coordinates lie on the slide (DrawingML, `a:chOff` and `a:chExt`)."""
    frame = group._element.grpSpPr.find(".//{*}xfrm")
    parts = {} if frame is None else {str(child.tag).rpartition("}")[2]: child for child in frame}
    if not {"off", "ext", "chOff", "chExt"} <= parts.keys():
        return place
    left, top = (float(parts["off"].get(axis)) for axis in "xy")
    from_left, from_top = (float(parts["chOff"].get(axis)) for axis in "xy")
    across, down = (float(parts["ext"].get(side)) / (float(parts["chExt"].get(side)) or 1.0) for side in ("cx", "cy"))
    return lambda x, y: place(left + (x - from_left) * across, top + (y - from_top) * down)


def _placed(shape: Any, place: Place, width: int, height: int) -> Placed:
    kind, title, text = _content(shape)
    return Placed(kind, title, text, _box(shape, place, width, height))


def _content(shape: Any) -> tuple[str, str, str]:
    """(kind, title, text) of a shape."""
    described = _described(shape)
    if getattr(shape, "has_table", False) and shape.has_table:
        rows = [[_plain(cell.text).replace("\n", " ") for cell in row.cells] for row in shape.table.rows]
        return "table", described or ", ".join(filter(None, rows[0] if rows else [])), "\n".join(map("\t".join, rows))
    if getattr(shape, "has_chart", False) and shape.has_chart:
        text = _chart_text(shape.chart)
        return "chart", described or text.partition("\n")[0], text
    if _is_picture(shape):
        return "figure", described, ""
    return "text", "", _plain(shape.text_frame.text) if getattr(shape, "has_text_frame", False) else ""


def _is_picture(shape: Any) -> bool:
    tag = str(shape._element.tag).rpartition("}")[2]
    return tag == "pic" or (tag == "graphicFrame" and not (shape.has_table or shape.has_chart))


def _described(shape: Any) -> str:
    said = shape._element._nvXxPr.cNvPr
    return " ".join((said.get("descr") or said.get("title") or "").split())


def _chart_text(chart: Any) -> str:
    """The title of a chart, and its data as rows: a category, then the value of each series."""
    title = _plain(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    rows: list[str] = []
    for plot in chart.plots:
        series = list(plot.series)
        rows.append("\t".join(["", *(str(each.name) for each in series)]))
        labels = [str(label) for label in plot.categories]
        columns = [["" if value is None else f"{value:.15g}" for value in each.values] for each in series]
        for number, label in enumerate(labels):
            rows.append("\t".join([label, *(column[number] if number < len(column) else "" for column in columns)]))
    names = ", ".join(rows[0].split("\t")[1:]) if rows else ""
    return "\n".join([title.replace("\n", " ") or names, *rows])


def _box(shape: Any, place: Place, width: int, height: int) -> Box | None:
    """The rectangle around a shape, turned as it is, inside the slide; None where it has no place or lies outside."""
    sides = (shape.left, shape.top, shape.width, shape.height)
    if any(side is None for side in sides):
        return None
    left, top, across, down = map(float, sides)
    turn = math.radians(getattr(shape, "rotation", 0.0) or 0.0)
    half = (
        (abs(across * math.cos(turn)) + abs(down * math.sin(turn))) / 2,
        (abs(across * math.sin(turn)) + abs(down * math.cos(turn))) / 2,
    )
    middle = left + across / 2, top + down / 2
    one = place(middle[0] - half[0], middle[1] - half[1])
    other = place(middle[0] + half[0], middle[1] + half[1])
    (x1, x2), (y1, y2) = (sorted((a / size, b / size)) for a, b, size in zip(one, other, (width, height), strict=True))
    try:
        return Box(*(round(min(max(value, 0.0), 1.0), 4) for value in (x1, y1, x2, y2)))
    except LocationMalformed:
        return None


def _plain(text: str) -> str:
    """Text with LF for the line and paragraph breaks of python-pptx."""
    return text.replace("\v", "\n").replace("\r\n", "\n").replace("\r", "\n").strip()


def slide_ids(deck: Presentation) -> list[int]:
    """The ids of the slides, in order."""
    part: Any = deck.part
    listed = part._element.sldIdLst
    return [] if listed is None else [int(each.get("id")) for each in listed]


def sections(package: OfficePackage) -> list[tuple[str, list[int]]]:
    """(name, ids of slides) of the sections of the presentation ([MS-PPTX] 2.6.25); none where it has no sections."""
    _, root = package.main("presentation")
    return [
        (
            str(section.get("name") or ""),
            [int(str(each.get("id"))) for each in section.iter("{*}sldId") if _whole(each.get("id"))],
        )
        for section in root.iter("{*}section")
    ]


def _whole(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= 12
