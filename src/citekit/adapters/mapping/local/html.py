"""HTML: sections by the headings h1 to h6, found where a browser would find them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from citekit.adapters.drivers.lxml import inner_text, local_attributes, local_name, names, parse_html
from citekit.adapters.drivers.text_file import open_text
from citekit.adapters.mapping.local.outline import Draft, Outline, Outliner
from citekit.adapters.mapping.local.prose import first_sentence
from citekit.adapters.mapping.local.sections import TextHeading, kept_headings, section_drafts
from citekit.domain.errors import SourceUnsupported
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

SIZE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file that is parsed; a larger one is mapped as plain text."""

_BODY_PIECES, _BODY_LIMIT = 40, 2000
_MARK = "data-citekit-line"
_HEADING_TAG = re.compile(r"<((?:[A-Za-z]+:)?h[1-6])(?=[\s/>])", re.IGNORECASE)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_UNSEEN = frozenset(("head", "script", "style", "template", "title", "noscript"))
_INLINE = names(
    """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rb rp rt ruby s samp
    small span strike strong sub sup time tt u var wbr
    """
)


class HtmlOutliner:
    """`fallback` maps files that are too large to parse, or hold no heading."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections nested by their headings. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        content = text.whole(SIZE_LIMIT)
        page = _Page() if content is None else read_page(content, source.path.name)
        if not page.headings:
            return _without_headings(page, self._fallback.outline(source, progress))
        headings = kept_headings(page.headings)
        return Outline(
            title=page.title or headings[0].title,
            bounds=text.bounds,
            drafts=section_drafts(headings, text.line_count, page.bodies),
            facts=text.facts,
        )


def _without_headings(page: _Page, plain: Outline) -> Outline:
    """One node for the whole page, the groups of the plain text below it where there are several."""
    body = page.bodies.get(1, [])
    said = page.title or next((line for line in body if line), "")
    if not said or not plain.drafts:
        return plain
    lines = Lines(1, plain.bounds.lines or 1)
    below = plain.drafts if len(plain.drafts) > 1 else ()
    draft = Draft(said, "page", lines, first_sentence(body, skip=page.title), below)
    return evolve(plain, title=page.title or None, drafts=(draft,))


@define
class _Page:
    """What a reading finds: `bodies` holds the text below each heading by its line, that before the first at line 1."""

    title: str = ""
    headings: list[TextHeading] = field(factory=list)
    bodies: dict[int, list[str]] = field(factory=dict)


def read_page(content: str, name: str) -> _Page:
    """The title, the headings with their lines, and the text below each, of a document whose lines end with line feeds.

    The line of every heading tag is written into the tag before the parser sees it: parsers that count lines stop at
    65535. A tag inside a comment or a script stays what it is.
    """
    try:
        root = parse_html(_with_lines(content), name, self_closing=content.lstrip()[:5] == "<?xml")
    except SourceUnsupported:
        return _Page()
    page = _Page(title=_title(root))
    lines = page.bodies.setdefault(1, [])
    for heading, piece in _pieces(root):
        if heading is not None:
            title = inner_text(heading)
            line = int(local_attributes(heading).get(_MARK, "0"))
            if title and line > (page.headings[-1].line if page.headings else 0):
                page.headings.append(TextHeading(line, int(local_name(heading)[1]), title))
                lines = page.bodies[line] = []
        elif len(lines) < _BODY_PIECES:
            lines.append(piece[:_BODY_LIMIT])
    return page


def _with_lines(content: str) -> str:
    pieces: list[str] = []
    line, position = 1, 0
    for tag in _HEADING_TAG.finditer(content):
        line += content.count("\n", position, tag.end())
        pieces.append(f'{content[position : tag.end()]} {_MARK}="{line}"')
        position = tag.end()
    return "".join(pieces) + content[position:]


def _title(root: _Element) -> str:
    found = next((each for each in root.iter() if local_name(each) == "title"), None)
    return "" if found is None else inner_text(found)


def _pieces(root: _Element) -> Iterator[tuple[_Element | None, str]]:
    """(heading, "") where one begins, else (None, a paragraph of text, or "" between two)."""
    from lxml import etree

    unseen = 0
    words: list[str] = []
    for event, each in etree.iterwalk(root, events=("start", "end")):
        name = local_name(each)
        hides = name in _UNSEEN or name in _HEADINGS
        if not unseen and name not in _INLINE:
            yield from ((None, text) for text in (" ".join("".join(words).split()), "") if words)
            words.clear()
        if event == "start":
            if name in _HEADINGS and not unseen:
                yield each, ""
            unseen += hides
            words.append("" if unseen else each.text or "")
        else:
            unseen -= hides
            words.append("" if unseen else each.tail or "")
    yield None, " ".join("".join(words).split())
