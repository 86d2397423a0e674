"""Reads the text of paragraphs on a slide (DrawingML, ECMA-376 part 1, 21.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from citekit.adapters.formats.shared.office_colors import TINY
from citekit.domain.quotes.superscripts import subscript, superscript

if TYPE_CHECKING:
    from lxml.etree import _Element


FAINT = 5_000
"""The maximum opacity, in thousandths of a percent, at which text is not legible."""

USUAL_SIZE = 1_800
"""The default font size in hundredths of a point."""

TITLE_PARAGRAPHS, TITLE_LENGTH = 3, 150
"""The maximum number of paragraphs, and of characters, in a title."""

_FILLS = frozenset(("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill"))


def plain(text: str) -> str:
    """Return `text` with line feeds for vertical tabs, CR, and CRLF, and without whitespace at its ends."""
    return text.replace("\v", "\n").replace("\r\n", "\n").replace("\r", "\n").strip()


class RunReader(Protocol):
    """Decides which runs of a shape are legible."""

    def is_legible(self, run: _Element, paragraph: _Element) -> bool:
        """Return whether a run is legible."""


def written(
    body: _Element | None, *, as_seen: bool = False, legible: bool = False, reader: RunReader | None = None
) -> str:
    """Return the text of the paragraphs in a text body (such as `a:txBody`), one per line; "" if `body` is None.

    With `as_seen`, raised and lowered numbers (21.1.2.3.9) become superscript and subscript characters. With `legible`,
    runs that are too small, too transparent, or not legible according to `reader` are left out.
    """
    paragraphs = () if body is None else body.iterchildren("{*}p")
    looks = () if not legible or body is None else (looks_of(body), *([reader] if reader else []))
    return plain("\n".join("".join(_pieces(each, looks, as_seen=as_seen)) for each in paragraphs))


@frozen
class Looks:
    """The properties of runs in a text body by level, from "0", and the factor that reduces text to fit."""

    levels: Mapping[str, _Element]
    scale: float

    def is_legible(self, run: _Element, paragraph: _Element) -> bool:
        """Return whether the run is large and opaque enough to be seen, by its own and its body's properties
        (21.1.2.3.9).
        """
        settings = paragraph.find("{*}pPr")
        level = "0" if settings is None else settings.get("lvl") or "0"
        said = [each for each in (run.find("{*}rPr"), self.levels.get(level)) if each is not None]
        size = next((number for each in said if (number := _number(each.get("sz"))) is not None), USUAL_SIZE)
        fill = next((child for each in said for child in each if _local(child) in _FILLS), None)
        outlined = any(each.find("{*}ln") is not None for each in said)
        if size * self.scale <= 100 * TINY:
            return False
        return fill is None or outlined or not _is_clear(fill)


def looks_of(body: _Element) -> Looks:
    """Return the properties that a text body specifies for its runs."""
    styles = body.find("{*}lstStyle")
    levels = {}
    for each in () if styles is None else styles:
        name, properties = _local(each), each.find("{*}defRPr")
        if properties is not None and name.startswith("lvl"):
            levels[str(int(name[3]) - 1)] = properties
    fitted = body.find("{*}bodyPr/{*}normAutofit")
    scale = None if fitted is None else _number(fitted.get("fontScale"))
    return Looks(levels, 1.0 if scale is None else scale / 100_000)


def largest_lines(body: _Element, size_of: Callable[[_Element, _Element], float]) -> tuple[str, float]:
    """Return the first adjacent paragraphs in the largest font, on one line, and their font size; ("", 0.0) without
    text.

    If the paragraphs are too many or too long for a title, only the first is returned. `size_of` returns the font size
    of a run.
    """
    sized = []
    for paragraph in body.iterchildren("{*}p"):
        runs = [each for each in paragraph.iterchildren("{*}r", "{*}fld") if (each.findtext("{*}t") or "").strip()]
        if runs:
            text = " ".join("".join(_pieces(paragraph, (), as_seen=False)).split())
            sized.append((text, max(size_of(each, paragraph) for each in runs)))
    if not sized:
        return "", 0.0
    largest = max(size for _, size in sized)
    texts = [
        text for text, _ in takewhile(lambda one: one[1] == largest, dropwhile(lambda one: one[1] < largest, sized))
    ]
    joined = " ".join(texts)
    is_title = len(texts) <= TITLE_PARAGRAPHS and len(joined) <= TITLE_LENGTH
    return joined if is_title else texts[0], largest


def _is_clear(fill: _Element) -> bool:
    if _local(fill) == "noFill":
        return True
    alphas = [_number(each.get("val")) for each in fill.iter("{*}alpha")]
    return bool(alphas) and all(alpha is not None and alpha <= FAINT for alpha in alphas)


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 8 and text.isascii() and text.isdigit() else None


def _local(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _pieces(paragraph: _Element, looks: Sequence[RunReader], *, as_seen: bool) -> Iterator[str]:
    """Yield the text of the runs, fields, and line breaks of a paragraph that all `looks` find legible."""
    before = ""
    for each in paragraph.iterchildren("{*}r", "{*}fld", "{*}br"):
        if not all(look.is_legible(each, paragraph) for look in looks):
            continue
        text = "\n" if str(each.tag).endswith("}br") else each.findtext("{*}t") or ""
        height = _height(each) if as_seen else 0
        if height:
            text = superscript(text, before) if height > 0 else subscript(text, before)
        before = text
        yield text


def _height(run: _Element) -> int:
    """Return 1 if the baseline of a text run is raised, -1 if it is lowered, else 0."""
    properties = run.find("{*}rPr")
    said = "" if properties is None else str(properties.get("baseline") or "").strip()
    moved = any(digit in said for digit in "123456789")
    return 0 if not moved else -1 if said.startswith("-") else 1
