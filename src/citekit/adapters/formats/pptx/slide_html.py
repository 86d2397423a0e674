"""Shows a slide as an HTML document: its shapes at their positions, with text, fills, pictures, tables, and charts.

The document is an approximation: effects and animations are left out, and most shapes are drawn as rectangles. It
contains only markup that this module writes, so that it executes nothing and loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.formats.epub.reader import media_type
from citekit.adapters.formats.pptx import presentation as driver
from citekit.adapters.formats.pptx.charts import chart_text
from citekit.adapters.formats.pptx.shapes import (
    SHAPES_LIMIT,
    Place,
    choose_alternatives,
    description,
    diagram_text,
    is_picture,
    is_switched_off,
    same,
    shows_master,
    walk,
)
from citekit.adapters.formats.pptx.slide_styles import (
    FILLS,
    SlideColors,
    TextStyle,
    background_of,
    number,
)
from citekit.adapters.formats.pptx.text import Looks, looks_of
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.xhtml.chapter_html import POLICY
from citekit.adapters.formats.xhtml.chapter_pages import bounded
from citekit.adapters.libraries.office_package import OfficePackage, local, opened_package
from citekit.domain.errors import LocationOutside

if TYPE_CHECKING:
    from lxml.etree import _Element

PICTURES_LIMIT = 24 * 2**20
"""The maximum total size of the pictures of a slide in the document, in bytes."""

USUAL_SIZE = 1_800
"""The default font size, in hundredths of a point."""

_REMEDY = "Open the presentation in another program."
_POINT = 12_700
_LINE_WIDTH = 9_525
_SHOWN = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"))
_STYLE = """
body{margin:0;background:#777;font-family:Calibri,Carlito,Arial,"Liberation Sans",sans-serif}
.slide{position:relative;container-type:inline-size;margin:0 auto;overflow:hidden;background:#fff;color:#000;line-height:1.15}
.shape{position:absolute;box-sizing:border-box}
.clip{position:absolute;inset:0;overflow:hidden}.clip img{position:absolute;max-width:none}
.text{position:absolute;inset:0;display:flex;flex-direction:column}
p{margin:0;white-space:pre-wrap;overflow-wrap:break-word}
table{border-collapse:collapse;width:100%;height:100%;table-layout:fixed}
td{border:1px solid #9998;padding:.3em .5em;vertical-align:top}
.chart{font-size:1.6cqw;overflow:auto;background:#fffb}
.missing{border:1px dashed #888;color:#666;font-size:1.4cqw;display:grid;place-items:center;text-align:center}
[data-unmarked]{user-select:none}
.notes,.hidden{max-width:60em;margin:1em auto;padding:1em;background:#fff;color:#000}.notes h2{margin:0 0 .5em;font-size:1em}
.notes p{margin:0 0 .5em}
"""
_ROUND = {"ellipse": "50%", "roundRect": "8% / 12%", "flowChartTerminator": "2em", "flowChartAlternateProcess": "8%"}
_CLIPS = {
    "triangle": "50% 0, 100% 100%, 0 100%",
    "rtTriangle": "0 0, 100% 100%, 0 100%",
    "diamond": "50% 0, 100% 50%, 50% 100%, 0 50%",
    "flowChartDecision": "50% 0, 100% 50%, 50% 100%, 0 50%",
    "parallelogram": "20% 0, 100% 0, 80% 100%, 0 100%",
    "trapezoid": "20% 0, 80% 0, 100% 100%, 0 100%",
    "hexagon": "20% 0, 80% 0, 100% 50%, 80% 100%, 20% 100%, 0 50%",
    "homePlate": "0 0, 80% 0, 100% 50%, 80% 100%, 0 100%",
    "chevron": "0 0, 80% 0, 100% 50%, 80% 100%, 0 100%, 20% 50%",
    "rightArrow": "0 25%, 65% 25%, 65% 0, 100% 50%, 65% 100%, 65% 75%, 0 75%",
    "leftArrow": "100% 25%, 35% 25%, 35% 0, 0 50%, 35% 100%, 35% 75%, 100% 75%",
    "downArrow": "25% 0, 25% 65%, 0 65%, 50% 100%, 100% 65%, 75% 65%, 75% 0",
    "upArrow": "25% 100%, 25% 35%, 0 35%, 50% 0, 100% 35%, 75% 35%, 75% 100%",
}
_LINES = frozenset(("line", "straightConnector1", "bentConnector3", "curvedConnector3", "bentConnector2"))
_ALIGNED = {"ctr": "center", "r": "right", "just": "justify", "dist": "justify"}
_ANCHORED = {"ctr": "center", "b": "flex-end"}


def slide_html(path: Path, number: int) -> str:
    """Return a slide of the presentation at `path` as an HTML document, with its notes below it.

    Raise `LocationOutside` if the slide does not exist, `SourceUnsupported` if the file is damaged or not a
    presentation, `SourceUnreadable` if it cannot be read, and `FormUnsupported` if the document becomes too large.
    """
    with opened_package(path) as package:
        deck = driver.presentation(package)
        with driver.translated(path.name):
            slides = deck.slides
            if not 1 <= number <= len(slides):
                raise LocationOutside.beyond("slide", number, "presentation", len(slides))
            defaults: Any = deck.part._element
            drawing = _Drawing(
                package, slides[number - 1], driver.slide_size(deck), defaults.find("{*}defaultTextStyle")
            )
            return bounded(drawing.document(number), f"Slide {number} produces", _REMEDY)


@define
class _Drawing:
    """The state while a slide is written. `left` is the number of bytes of pictures that still fit."""

    package: OfficePackage
    slide: Any
    size: tuple[int, int]
    defaults: _Element | None
    left: int = PICTURES_LIMIT
    colors: SlideColors = field(init=False)

    @colors.default
    def _colors_of_master(self) -> SlideColors:
        return SlideColors.of(self.package, self.master)

    @property
    def master(self) -> Any:
        return self.slide.slide_layout.slide_master

    def document(self, number: int) -> Iterator[str]:
        """Yield the document in pieces."""
        width, height = self.size
        yield (
            f'<!DOCTYPE html>\n<html lang="{escape(self._language())}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            f"<title>Slide {number}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        )
        if driver.is_hidden(self.slide):
            yield '<p class="hidden" data-unmarked>This slide is hidden in the slide show.</p>\n'
        yield (
            f'<div class="slide" style="aspect-ratio:{width}/{height};'
            f'width:min(100%,calc(100vh * {width} / {height}))">\n'
        )
        yield self._background()
        choose_alternatives(self.slide)
        for holder, shape, place in islice(self._shapes(), SHAPES_LIMIT):
            yield self._shape(holder, shape, place)
        yield "</div>\n"
        notes = driver.notes_text(self.slide)
        if notes:
            lines = "".join(f"<p>{escape(line, quote=False)}</p>" for line in notes.split("\n"))
            yield f'<div class="notes"><h2 data-unmarked>Notes</h2>{lines}</div>\n'
        yield "</body>\n</html>\n"

    def _language(self) -> str:
        """Return the most frequent language code of the text runs, or "und" if they have none."""
        codes = (language_code(each.get("lang")) for each in self.slide._element.iter("{*}rPr"))
        return next((code for code, _ in Counter(filter(None, codes)).most_common(1)), "und")

    def _shapes(self) -> Iterator[tuple[Any, Any, Place]]:
        """Yield (holder, shape, conversion) from back to front: the visible shapes of the master and the layout, without
        placeholders, and the shapes of the slide.

        The holder is the master, the layout, or the slide. The conversion is to coordinates of the slide.
        """
        layout = self.slide.slide_layout
        for holder in (self.master, layout):
            if shows_master(self.slide) and (holder is layout or shows_master(layout)):
                for shape, place in walk(holder.shapes, same):
                    if not shape.is_placeholder:
                        yield holder, shape, place
        for shape, place in walk(self.slide.shapes, same):
            yield self.slide, shape, place

    def _background(self) -> str:
        shown, holder, fill = background_of(self.slide, self.colors)
        if fill is not None:
            return f'<div class="clip">{self._image(holder, fill, "")}</div>\n'
        return f'<div class="clip" style="background:{shown}"></div>\n' if shown else ""

    def _shape(self, holder: Any, shape: Any, place: Place) -> str:
        frame = None if is_switched_off(shape) else self._frame(shape, place)
        if frame is None:
            return ""
        element, geometry = shape._element, _geometry(shape)
        if local(element) == "cxnSp" or geometry in _LINES:
            return self._line(shape, frame)
        look = self._look(shape, geometry)
        inside = self._content(holder, shape)
        filled = self._filled_by_picture(holder, shape)
        if not (inside or look or filled):
            return ""
        ground = f'<div class="clip" style="{look}">{filled}</div>' if look or filled else ""
        return f'<div class="shape" style="{frame}">{ground}{inside}</div>\n'

    def _frame(self, shape: Any, place: Place) -> str | None:
        """Return the position, size, and rotation of a shape in CSS, or None if it has no position or size."""
        sides = (shape.left, shape.top, shape.width, shape.height)
        if any(side is None for side in sides):
            return None
        left, top, across, down = map(float, sides)
        (x1, y1), (x2, y2) = place(left, top), place(left + across, top + down)
        parts = zip(("left", "top", "width", "height"), (x1, y1, x2 - x1, y2 - y1), self.size * 2, strict=True)
        turn = float(getattr(shape, "rotation", 0.0) or 0.0)
        rotated = f";transform:rotate({turn:.1f}deg)" if turn else ""
        return ";".join(f"{name}:{100 * value / whole:.3f}%" for name, value, whole in parts) + rotated

    def _look(self, shape: Any, geometry: str) -> str:
        """Return the fill, border, and geometry of a shape in CSS, or ""."""
        properties = shape._element.find("{*}spPr")
        if properties is None or geometry == "custom":
            return ""
        style = shape._element.find("{*}style")
        fill = next((child for child in properties if local(child) in FILLS), None)
        shown = self._style_color(style, "fillRef") if fill is None else self.colors.css(fill)
        looks = [f"background:{shown}"] if shown and shown != "none" else []
        border = self._border(properties.find("{*}ln"), style)
        if border:
            looks.append(f"border:{border};box-sizing:border-box")
        if looks and geometry in _ROUND:
            looks.append(f"border-radius:{_ROUND[geometry]}")
        if looks and geometry in _CLIPS:
            looks.append(f"clip-path:polygon({_CLIPS[geometry]})")
        return ";".join(looks)

    def _style_color(self, style: _Element | None, name: str) -> str | None:
        found = None if style is None else style.find(f"{{*}}{name}")
        return None if found is None or found.get("idx") == "0" else self.colors.color_in(found)

    def _border(self, line: _Element | None, style: _Element | None) -> str:
        fill = None if line is None else next((child for child in line if local(child) in FILLS), None)
        color = self._style_color(style, "lnRef") if fill is None else self.colors.css(fill)
        if not color or color == "none" or color.startswith("linear"):
            return ""
        width = (None if line is None else number(line.get("w"))) or _LINE_WIDTH
        return f"{self._length(width)} solid {color}"

    def _line(self, shape: Any, frame: str) -> str:
        border = self._border(shape._element.find("{*}spPr/{*}ln"), shape._element.find("{*}style"))
        if not border:
            return ""
        width, _, color = border.partition(" solid ")
        turned = shape._element.find("{*}spPr/{*}xfrm")
        flips = [turned is not None and turned.get(name) in ("1", "true") for name in ("flipH", "flipV")]
        first, last = ("100%", "0") if flips[0] != flips[1] else ("0", "100%")
        return (
            f'<svg class="shape" style="{frame};overflow:visible"><line x1="{first}" y1="0" x2="{last}" y2="100%" '
            f'style="stroke:{color};stroke-width:{width}"></line></svg>\n'
        )

    def _content(self, holder: Any, shape: Any) -> str:
        if getattr(shape, "has_table", False) and shape.has_table:
            return self._table(shape)
        if getattr(shape, "has_chart", False) and shape.has_chart:
            return _grid(chart_text(shape.chart_part._element))
        if is_picture(shape):
            fill = shape._element.find("{*}blipFill")
            image = "" if fill is None else self._image(holder, fill, description(shape))
            if image:
                return f'<div class="clip">{image}</div>'
            text = diagram_text(shape, as_seen=False) or description(shape)
            return f'<div class="clip missing">{escape(text, quote=False)}</div>'
        body = shape._element.find("{*}txBody")
        if body is None:
            return ""
        ink = self._style_color(shape._element.find("{*}style"), "fontRef")
        return self._text(body, TextStyle.of(shape, self.master, self.defaults), ink)

    def _filled_by_picture(self, holder: Any, shape: Any) -> str:
        fill = shape._element.find("{*}spPr/{*}blipFill")
        return "" if fill is None else self._image(holder, fill, "")

    def _image(self, holder: Any, fill: _Element, described: str) -> str:
        """Return the picture of a fill, cropped, or "" if it cannot be shown."""
        blip = fill.find("{*}blip")
        reference = "" if blip is None else next((v for k, v in blip.items() if str(k).endswith("}embed")), "")
        try:
            name = self.package.find(str(holder.part.related_part(str(reference)).partname).lstrip("/"))
        except KeyError:
            return ""
        if name is None or self.package.size(name) > self.left:
            return ""
        data = b"".join(self.package.stream(name))  # a picture may contain bytes that markup may not
        kind = media_type(data, "")
        if kind not in _SHOWN:
            return ""
        self.left -= len(data)
        crop = fill.find("{*}srcRect")
        left, top, right, bottom = (
            0.0 if crop is None else (number(crop.get(side)) or 0) / 100_000 for side in ("l", "t", "r", "b")
        )
        across, down = max(1 - left - right, 0.01), max(1 - top - bottom, 0.01)
        place = (
            f"width:{100 / across:.2f}%;height:{100 / down:.2f}%;"
            f"left:{-100 * left / across:.2f}%;top:{-100 * top / down:.2f}%"
        )
        source = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
        return f'<img alt="{escape(described)}" style="{place}" src="{source}">'

    def _table(self, shape: Any) -> str:
        rows = list(shape._element.iter("{*}tr"))
        heights = [max(number(row.get("h")) or 1, 1) for row in rows]
        columns = [max(number(each.get("w")) or 1, 1) for each in shape._element.iter("{*}gridCol")]
        widths = "".join(f'<col style="width:{100 * each / sum(columns):.2f}%">' for each in columns)
        written = []
        for row, height in zip(rows, heights, strict=True):
            cells = "".join(map(self._cell, row.iterchildren("{*}tc")))
            written.append(f'<tr style="height:{100 * height / sum(heights):.2f}%">{cells}</tr>')
        return f"<table><colgroup>{widths}</colgroup>{''.join(written)}</table>"

    def _cell(self, cell: _Element) -> str:
        if any(cell.get(name) in ("1", "true") for name in ("hMerge", "vMerge")):
            return ""
        spans = "".join(
            f' {name}="{count}"'
            for name, key in (("colspan", "gridSpan"), ("rowspan", "rowSpan"))
            if (count := number(cell.get(key))) and 1 < count <= 1000
        )
        properties = cell.find("{*}tcPr")
        fill = None if properties is None else next((child for child in properties if local(child) in FILLS), None)
        shown = None if fill is None else self.colors.css(fill)
        style = f' style="background:{shown}"' if shown and shown != "none" else ""
        body = cell.find("{*}txBody")
        lists = [] if self.defaults is None else [self.defaults]
        text = "" if body is None else "".join(self._paragraphs(body, TextStyle([body], lists)))
        return f"<td{spans}{style}>{text}</td>"

    def _text(self, body: _Element, style: TextStyle, ink: str | None) -> str:
        """Return the text of a shape as HTML. `ink` is the color of runs without a color of their own."""
        paragraphs = "".join(self._paragraphs(body, style, ink))
        if not paragraphs:
            return ""
        insets = (
            (style.of_body(f"{side}Ins"), usual) for side, usual in zip("trbl", (45_720, 91_440) * 2, strict=True)
        )
        padding = " ".join(self._length(usual if (own := number(text)) is None else own) for text, usual in insets)
        anchor = _ANCHORED.get(style.of_body("anchor") or "", "flex-start")
        return f'<div class="text" style="justify-content:{anchor};padding:{padding}">{paragraphs}</div>'

    def _paragraphs(self, body: _Element, style: TextStyle, ink: str | None = None) -> Iterator[str]:
        looks, counts = looks_of(body), dict[int, int]()
        for paragraph in body.iterchildren("{*}p"):
            levels = list(style.levels(paragraph))
            runs = "".join(self._runs(paragraph, levels, looks, style.scale, ink))
            aligned = _ALIGNED.get(_first(levels, "algn") or "", "left")
            margin, indent = (number(_first(levels, name)) or 0 for name in ("marL", "indent"))
            level = 0 if not levels else number(levels[0].get("lvl")) or 0
            mark = _bullet(levels, counts, level) if runs else ""
            size = self._size(levels, None, style.scale)
            bullet = f"<span data-unmarked>{escape(mark, quote=False)} </span>" if mark else ""
            yield (
                f'<p style="text-align:{aligned};margin-left:{self._length(max(margin, 0))};'
                f'text-indent:{self._length(indent if mark else 0)};font-size:{size}">{bullet}{runs or "<br>"}</p>'
            )

    def _runs(
        self, paragraph: _Element, levels: Sequence[_Element], looks: Looks, scale: float, ink: str | None
    ) -> Iterator[str]:
        for run in paragraph.iterchildren("{*}r", "{*}fld", "{*}br"):
            if not looks.is_legible(run, paragraph):
                continue
            if local(run) == "br":
                yield "<br>"
                continue
            own = run.find("{*}rPr")
            said = [each for each in (own, *(level.find("{*}defRPr") for level in levels)) if each is not None]
            styles = [f"font-size:{self._size(levels, own, scale)}"]
            colored = said if ink is None else [own] if own is not None else []
            fill = next((child for each in colored for child in each if local(child) in FILLS), None)
            color = ink if fill is None else self.colors.css(fill)
            if color and color != "none" and not color.startswith("linear"):
                styles.append(f"color:{color}")
            styles += [
                css for name, css in (("b", "font-weight:bold"), ("i", "font-style:italic")) if _is_on(said, name)
            ]
            if (_first(said, "u") or "none") != "none":
                styles.append("text-decoration:underline")
            raised = number(_first(said, "baseline")) or 0
            if raised:
                moved, smaller = "super" if raised > 0 else "sub", self._size(levels, own, scale * 0.7)
                styles.append(f"vertical-align:{moved};font-size:{smaller}")
            yield f'<span style="{";".join(styles)}">{escape(run.findtext("{*}t") or "", quote=False)}</span>'

    def _size(self, levels: Sequence[_Element], own: _Element | None, scale: float) -> str:
        said = [each for each in (own, *(level.find("{*}defRPr") for level in levels)) if each is not None]
        points = (number(_first(said, "sz")) or USUAL_SIZE) / 100 * scale
        return self._length(points * _POINT)

    def _length(self, emu: float) -> str:
        """Return a length in hundredths of the width of the slide (`cqw`)."""
        return f"{100 * emu / self.size[0]:.3f}cqw"


def _geometry(shape: Any) -> str:
    properties = shape._element.find("{*}spPr")
    if properties is None:
        return ""
    preset = properties.find("{*}prstGeom")
    return (
        "custom" if properties.find("{*}custGeom") is not None else "" if preset is None else preset.get("prst") or ""
    )


def _first(said: Sequence[_Element], name: str) -> str | None:
    return next((str(each.get(name)) for each in said if each.get(name) is not None), None)


def _is_on(said: Sequence[_Element], name: str) -> bool:
    return _first(said, name) in ("1", "true")


def _bullet(levels: Sequence[_Element], counts: dict[int, int], level: int) -> str:
    """Return the bullet or the number of a paragraph, or "".

    `counts` has the last number of each level. A paragraph ends the numbering of lower levels, and without a number of
    its own, also that of its level.
    """
    for each in [each for each in counts if each > level]:
        del counts[each]
    found = next(
        (child for each in levels for child in each if local(child) in ("buNone", "buChar", "buAutoNum")), None
    )
    if found is None or local(found) != "buAutoNum":
        counts.pop(level, None)
    if found is None or local(found) == "buNone":
        return ""
    if local(found) == "buChar":
        mark = str(found.get("char") or "")[:2]
        return mark if mark and mark.isprintable() and not 0xE000 <= ord(mark[0]) <= 0xF8FF else "•"
    counts[level] = counts.get(level, (number(found.get("startAt")) or 1) - 1) + 1
    return f"{counts[level]}."


def _grid(text: str) -> str:
    """Return text as an HTML table, with lines as rows and tabs between cells."""
    rows = (
        "".join(f"<td>{escape(cell, quote=False)}</td>" for cell in line.split("\t"))
        for line in text.split("\n")
        if line
    )
    return (
        f'<div class="clip chart"><table style="height:auto">{"".join(f"<tr>{row}</tr>" for row in rows)}</table></div>'
    )
