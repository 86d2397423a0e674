"""Reads the shapes on a slide, also in groups: text, tables, charts, and images."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import frozen

from citekit.adapters.formats.pptx.charts import chart_text
from citekit.adapters.formats.pptx.text import largest_lines, written
from citekit.adapters.formats.pptx.visibility import Canvas, Drawn, Edges, Reader
from citekit.adapters.formats.shared.outline import one_line
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from pptx.opc.package import XmlPart
    from pptx.slide import Slide, SlideLayout, SlideMaster

DEPTH_LIMIT = 32
"""Maximum nesting depth of groups that are searched on a slide."""

SHAPES_LIMIT = 5000
"""Maximum number of shapes that are read on one slide."""

DIAGRAM_TITLE = 80
"""Maximum number of characters of the title of a diagram that is made from its text."""

_MADE_UP = re.compile(
    r"""(?:https?|file)://\S+|^(?:[a-z]:\\)?[^<>:"|?*]*\.(?:jpe?g|png|gif|bmp|tiff?|svg|emf|wmf|webp)$
        |^(?:File|Image|Datei|Fichier):\S+$|^(?=\S*\d{4})(?=\S*[a-z])[\w.-]+(?:\[\d+\])?$
        |^(?=\S*\d)[^\W_]+(?:[-_]+[^\W_]+){3,}$
        |^(?:Related\ image|Image\ associée|Ähnliches\ Foto|Imagen\ relacionada|Immagine\ correlata)$
        |^(?:Image\ result\ for|Résultats?\ de\ recherche\ d[’']images\ pour|(?:Bild|Bilder)ergebnis\ für
            |Resultado\ de\ imagen\ (?:para|de)|Risultati?\ immagini\ per|Resultado\ de\ imagem\ para
            |Afbeeldingsresultaat\ voor|Картинки\ по\ запросу)\ |\s*(?:
        Description\ (?:automatically\ )?generated|AI-generated\ content|Automatisch\ generierte\ Beschreibung
        |Description\ générée\ automatiquement|Descripción\ generada\ automáticamente
        |Descrizione\ generata\ automaticamente|Descrição\ gerada\ automaticamente).*""",
    re.VERBOSE | re.IGNORECASE,
)
"""Matches what programs add to alternative texts, or write in place of them: names and codes of files, web addresses,
notes about generated descriptions, and the words that an image search puts before its search terms.
"""

_QUOTED = re.compile(r"""["'“„«]\s?([^"“”„«»]*?)\s?["'“”»]""")


@frozen
class SlideShape:
    """A shape on a slide. `box` is None if the shape has no position on the slide.

    `kind` is `text`, `table`, `chart`, `figure`, or `running` (date, header, footer, or slide number). `seen` is the
    legible part of `text`. `hidden` is true if readers of the slide do not see the shape or its text. For visible
    shapes of the kind `text`, `largest` is the first part of the text in the largest font, and `size` is the size of
    this font in hundredths of a point.
    """

    kind: str
    title: str
    text: str
    box: Box | None
    seen: str
    hidden: bool = False
    largest: str = ""
    size: float = 0.0


def shapes(slide: Slide, width: int, height: int, *, as_seen: bool = False) -> Sequence[SlideShape]:
    """Return the shapes of a slide, including those in groups, with the title first.

    At most `SHAPES_LIMIT` shapes are read. The slide is changed as in `choose_alternatives`. `width` and `height` are
    the slide's size in EMU (914,400 per inch). For `as_seen`, see `text.written`.
    """
    known = _READ.setdefault(slide.part, {})
    key = width, height, as_seen
    if key not in known:
        known[key] = _shapes(slide, width, height, as_seen=as_seen)
    return known[key]


_READ: WeakKeyDictionary[Any, dict[tuple[int, int, bool], Sequence[SlideShape]]] = WeakKeyDictionary()
"""A cache of the shapes of open slides, by slide part, size in EMU, and `as_seen`."""


def _shapes(slide: Slide, width: int, height: int, *, as_seen: bool) -> Sequence[SlideShape]:
    choose_alternatives(slide)
    title = slide.shapes.title
    drawn = _placed(slide, width, height)
    canvas = Canvas.of(slide)
    canvas.see(drawn, _below(slide, width, height))
    found: list[SlideShape] = []
    for order, (shape, edges) in enumerate(drawn):
        one = _slide_shape(shape, canvas, order, edges, as_seen=as_seen)
        if title is not None and shape._element is title._element:
            found.insert(0, one)
        else:
            found.append(one)
    return found


def _placed(holder: Slide | SlideLayout | SlideMaster, width: int, height: int) -> Drawn:
    """Return the shapes of a slide, layout, or master with their edges."""
    return [
        (shape, _edges(shape, place, width, height))
        for shape, place in islice(walk(holder.shapes, same, 0), SHAPES_LIMIT)
    ]


def _below(slide: Slide, width: int, height: int) -> Drawn:
    """Return the shapes that a slide shows of its master and of its layout, with their edges.

    Placeholders are left out, because slides don't show those of a layout or master.
    """
    layout = slide.slide_layout
    holders: list[SlideLayout | SlideMaster] = [layout] if shows_master(slide) else []
    if holders and shows_master(layout):
        holders.insert(0, layout.slide_master)
    return [pair for holder in holders for pair in _drawn_by(holder, width, height)]


def _drawn_by(holder: SlideLayout | SlideMaster, width: int, height: int) -> Drawn:
    known = _DRAWN.setdefault(holder.part, {})
    if (width, height) not in known:
        placed = _placed(holder, width, height)
        known[width, height] = [(shape, edges) for shape, edges in placed if not shape.is_placeholder]
    return known[width, height]


_DRAWN: WeakKeyDictionary[XmlPart, dict[tuple[int, int], Drawn]] = WeakKeyDictionary()
"""A cache of the shapes that slides show of open layouts and masters, by their part and the size of slides in EMU."""


def shows_master(holder: Slide | SlideLayout) -> bool:
    """Return whether a slide shows the shapes of its layout and master, or a layout those of its master (19.3.1.38)."""
    return holder._element.get("showMasterSp") not in ("0", "false")


def choose_alternatives(slide: Slide) -> None:
    """Replace alternate content among the shapes (ECMA-376 part 3, 7.6), which python-pptx skips.

    It is replaced with its first known alternative that consists of shapes, or removed if there is none.
    """
    for each in list(slide._element.iter("{*}AlternateContent")):
        parent = each.getparent()
        options = [list(option) for option in each.iterchildren("{*}Choice", "{*}Fallback") if _is_known(option)]
        chosen = next((some for some in options if some and all(_local(one) in _SHAPES for one in some)), [])
        if parent is not None and _local(parent) in ("spTree", "grpSp"):
            for one in chosen:
                each.addprevious(one)
            parent.remove(each)


def _is_known(option: Any) -> bool:
    """Return whether the namespaces that an alternative requires are known."""
    required = (option.get("Requires") or "").split()
    return all(str(option.nsmap.get(prefix, "")).startswith(_KNOWN) for prefix in required)


_KNOWN = ("http://schemas.microsoft.com/office/", "http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/")
_SHAPES = frozenset(("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


Place = Callable[[float, float], tuple[float, float]]
"""A function that converts coordinates to slide coordinates."""


def same(x: float, y: float) -> tuple[float, float]:
    """Return the coordinates unchanged, for shapes that are not in a group."""
    return x, y


def walk(among: Iterable[Any], place: Place, depth: int = 0) -> Iterator[tuple[Any, Place]]:
    """Yield the shapes, including those in groups, each with its conversion to slide coordinates."""
    for shape in among:
        if hasattr(shape, "shapes"):
            if depth < DEPTH_LIMIT:
                yield from walk(shape.shapes, _inside(shape, place), depth + 1)
        else:
            yield shape, place


def _inside(group: Any, place: Place) -> Place:
    """Return the conversion of coordinates inside a group to slide coordinates (`a:chOff` and `a:chExt`)."""
    frame = group._element.grpSpPr.find(".//{*}xfrm")
    parts = {} if frame is None else {str(child.tag).rpartition("}")[2]: child for child in frame}
    if not {"off", "ext", "chOff", "chExt"} <= parts.keys():
        return place
    left, top = (float(parts["off"].get(axis)) for axis in "xy")
    from_left, from_top = (float(parts["chOff"].get(axis)) for axis in "xy")
    across, down = (float(parts["ext"].get(side)) / (float(parts["chExt"].get(side)) or 1.0) for side in ("cx", "cy"))
    return lambda x, y: place(left + (x - from_left) * across, top + (y - from_top) * down)


def _slide_shape(shape: Any, canvas: Canvas, order: int, edges: Edges | None, *, as_seen: bool) -> SlideShape:
    kind, title, text = _content(shape, as_seen=as_seen)
    off = is_switched_off(shape) or _is_outside(edges) or canvas.is_covered(order, edges)
    reader = canvas.reader(shape, order, edges)
    seen = "" if off else _legible(shape, kind, text, reader, as_seen=as_seen)
    hidden = off or (bool(text.strip()) and not seen.strip())
    body = None if hidden or kind != "text" else body_of(shape)
    largest, size = ("", 0.0) if body is None else largest_lines(body, reader.size_of)
    return SlideShape(kind, title, text, _box(edges), seen, hidden, largest, size)


def is_switched_off(shape: Any) -> bool:
    """Return whether a shape, or a group that contains it, is hidden (ECMA-376 part 1, 20.1.2.2.8)."""
    return any(
        properties.get("hidden") in ("1", "true")
        for holder in (shape._element, *shape._element.iterancestors("{*}grpSp"))
        for properties in holder.xpath("./*[starts-with(local-name(), 'nv')]/*[local-name() = 'cNvPr']")
    )


def _is_outside(edges: Edges | None) -> bool:
    return edges is not None and (edges[0] >= 1 or edges[1] >= 1 or edges[2] <= 0 or edges[3] <= 0)


def _content(shape: Any, *, as_seen: bool) -> tuple[str, str, str]:
    """Return the kind, the title, and the text of a shape.

    Without a description, a table of several rows is titled by its first row, a chart by the first line of its text,
    and a diagram by its text. The title of text is "".
    """
    described = _MADE_UP.sub("", description(shape)).strip()
    described = found[1] if (found := _QUOTED.fullmatch(described)) else described
    if getattr(shape, "has_table", False) and shape.has_table:
        rows = [[_cell(each, as_seen=as_seen) for each in row] for row in shape._element.iter("{*}tr")]
        header = ", ".join(filter(None, rows[0])) if len(rows) > 1 else ""
        return "table", described or header, "\n".join(map("\t".join, rows))
    if getattr(shape, "has_chart", False) and shape.has_chart:
        text = chart_text(shape.chart_part._element)
        return "chart", described or text.partition("\n")[0], text
    if is_picture(shape):
        text = diagram_text(shape, as_seen=as_seen)
        return "figure", described or one_line(", ".join(text.split("\n")), DIAGRAM_TITLE), text
    return "running" if _runs(shape) else "text", "", written(body_of(shape), as_seen=as_seen)


def _legible(shape: Any, kind: str, text: str, reader: Reader, *, as_seen: bool) -> str:
    """Return the legible text of a shape. Cells that are merged into others (21.1.3.16) are empty."""
    if kind == "table":
        rows = [
            ["" if _is_swallowed(each) else _cell(each, as_seen=as_seen, legible=True) for each in row]
            for row in shape._element.iter("{*}tr")
        ]
        return "\n".join(map("\t".join, rows))
    body = body_of(shape) if kind in ("text", "running") else None
    return text if body is None else written(body, as_seen=as_seen, legible=True, reader=reader)


def _is_swallowed(cell: Any) -> bool:
    return any(cell.get(name) in ("1", "true") for name in ("hMerge", "vMerge"))


def diagram_text(shape: Any, *, as_seen: bool) -> str:
    """Return the text of a diagram (ECMA-376 part 1, 21.4), one line per item; "" for any other picture."""
    from pptx.oxml import parse_xml

    reference = next(shape._element.iter("{*}relIds"), None)
    related = "" if reference is None else next((v for k, v in reference.items() if k.endswith("}dm")), "")
    if not related:
        return ""
    texts = (written(each, as_seen=as_seen) for each in parse_xml(shape.part.related_part(related).blob).iter("{*}t"))
    return "\n".join(filter(None, texts))


def _cell(cell: Any, *, as_seen: bool, legible: bool = False) -> str:
    return written(cell.find("{*}txBody"), as_seen=as_seen, legible=legible).replace("\n", " ")


def body_of(shape: Any) -> Any:
    """Return the text body element of a shape, or None."""
    return None if shape is None else shape._element.find("{*}txBody")


def _runs(shape: Any) -> bool:
    """Return whether a shape is the date, header, footer, or slide number (ECMA-376 part 1, 19.3.1.36)."""
    holder = shape._element.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return holder is not None and holder.get("type") in ("dt", "ftr", "sldNum", "hdr")


def description(shape: Any) -> str:
    """Return the alternative text of a shape, or else its title, or ""."""
    said = shape._element._nvXxPr.cNvPr
    return " ".join((said.get("descr") or said.get("title") or "").split())


def is_picture(shape: Any) -> bool:
    """Return whether a shape is, or is displayed as, a picture."""
    tag = _local(shape._element)
    return tag == "pic" or (tag == "graphicFrame" and not (shape.has_table or shape.has_chart))


def _edges(shape: Any, place: Place, width: int, height: int) -> Edges | None:
    """Return the edges of the rotated shape as fractions of the slide, or None if it has no position or no size."""
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
    return x1, y1, x2, y2


def _box(edges: Edges | None) -> Box | None:
    """Return the box clipped to the slide, or None if no part of it is on the slide."""
    try:
        return None if edges is None else Box(*(round(min(max(value, 0.0), 1.0), 4) for value in edges))
    except LocationMalformed:
        return None
