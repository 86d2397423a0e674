"""Outlines Markdown by ATX and setext headings (CommonMark 0.31), using the parser markdown-it-py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from attrs import evolve

from citekit.adapters.formats.shared.markdown_headings import MarkdownScan, without_markup
from citekit.adapters.formats.shared.outline import Outline, Outliner
from citekit.adapters.formats.shared.sections import TextHeading, sections
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.formats.shared.titles import is_mistake
from citekit.domain.progress import Progress
from citekit.domain.source import Source
from citekit.domain.vocabulary import TOC_HEADING, any_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SIZE_LIMIT = 1024 * 1024
"""The maximum size, in bytes, of a file that is parsed. A larger file is scanned line by line."""

LINES_LIMIT = 20_000
"""The maximum number of lines of a file that is parsed, because the parser allocates several objects per line."""

_FRONT_LINES = 500

_FRONT = re.compile(
    r"\A(?:---[ \t]*\n(?:.*?\n)?(?:---|\.\.\.)|(?=title:)(?:[\w-]{1,40}:[^\n]*\n){2,40}---"
    r"|\+\+\+[ \t]*\n(?:.*?\n)?\+\+\+|\{[ \t]*\n(?:.*?\n)?\})[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
"""Matches the data before a text in YAML, TOML, or JSON. The first line of YAML, `---`, may be missing."""

_TITLE = re.compile(r"^(?:title|[ \t]*\"title\")[ \t]*[:=](.*?),?[ \t]*$", re.MULTILINE)
_TOC = re.compile(rf"(?:{any_of(TOC_HEADING)})\W*", re.IGNORECASE)
_ABOUT = re.compile(r"about(?: (?:this|the) \w+)?\W*", re.IGNORECASE)
"""Matches the heading of the first part of a book (`About this book`)."""

_LINE_START = re.compile(r"^\s{0,3}(?:[#>]+\s*|[-*+]\s+|\d{1,9}[.)]\s+|[-*_=~`|: ]{3,}$|\[[^\]\n]{1,100}\]:.*$)")


class MarkdownOutliner:
    """Outlines Markdown files. `fallback` outlines files that are very long or have no headings."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The sections are nested by their headings."""
        text = open_text(source.path, progress)
        content = text.whole(SIZE_LIMIT) if text.line_count <= LINES_LIMIT else None
        head = content if content is not None else "\n".join(next(text.passages([(1, _FRONT_LINES)]), []))
        headings = _scanned(text, head, progress) if content is None else read_headings(content)
        if not headings:
            return self._fallback.outline(source, progress)
        return _outline(text, head, headings)


def _scanned(text: TextFile, head: str, progress: Progress) -> list[TextHeading]:
    if text.is_long:
        return []
    front = _FRONT.match(head)
    before = front[0].count("\n") if front else 0
    return MarkdownScan().read(islice(text.lines(progress), before, None), before + 1)


def _outline(text: TextFile, head: str, headings: list[TextHeading]) -> Outline:
    front = _FRONT.match(head)
    title = _TITLE.search(front[0]) if front else None
    headings = _beside_contents(headings)
    return Outline(
        title=(title[1].strip().strip("\"'") if title else "") or _first_title(headings) or None,
        extent=text.extent,
        items=sections(text, headings, plain, front[0].count("\n") if front else 0),
        facts=text.facts,
    )


def _beside_contents(headings: Sequence[TextHeading]) -> list[TextHeading]:
    """Return the headings, with a table of contents beside the others if its heading is the only one of its level."""
    highest = min(heading.level for heading in headings)
    others = [heading.level for heading in headings if heading.level > highest]
    if len(others) + 1 != len(headings) or not others:
        return list(headings)
    return [
        evolve(heading, level=min(others))
        if heading.level == highest and _TOC.fullmatch(plain(heading.title))
        else heading
        for heading in headings
    ]


def _first_title(headings: Sequence[TextHeading]) -> str:
    """Return the first of the highest headings without its number.

    Return "" if other headings have its level and it only titles the first part of a book, such as `About this book`.
    """
    highest = min(heading.level for heading in headings)
    first, *others = [plain(heading.title) for heading in headings if heading.level == highest]
    return "" if others and (is_mistake(first) or _ABOUT.fullmatch(first)) else first


def read_headings(content: str) -> list[TextHeading]:
    """Return the headings of the Markdown document `content`, except in block quotes and lists.

    Its lines end with line feeds.
    """
    front = _FRONT.match(content)
    lines_before = front[0].count("\n") if front else 0
    tokens = _block_parser().parse(content[front.end() :] if front else content)
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            first, end = opening.map
            lines = (line for line in inline.content.split("\n") if any(map(str.isalnum, line)))
            title = " ".join(without_markup("\n".join(lines)).split())
            if title:
                found.append(TextHeading(lines_before + first + 1, int(opening.tag[1:]), title, end - first))
    return found


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser of the block structure of Markdown. It is slow to create, and keeps no state."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def plain(line: str) -> str:
    """Return a line without its Markdown markup. The result is exact enough for titles and summaries."""
    return without_markup(_LINE_START.sub("", line))
