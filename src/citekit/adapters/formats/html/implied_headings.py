"""Finds the headings of HTML pages without heading elements: bold paragraphs, and Markdown that a script shows as slides.

Word and old editors export headings as paragraphs in bold, or as the first words, in emphasis, of numbered paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from textwrap import dedent

from attrs import frozen

from citekit.adapters.formats.html.lines import letters, letters_from
from citekit.adapters.formats.html.tags import Tag, tokens
from citekit.adapters.formats.shared.markdown_headings import MarkdownScan
from citekit.adapters.formats.shared.sections import TextHeading
from citekit.adapters.formats.shared.summaries import has_text

PARAGRAPH_LIMIT = 20_000
"""Maximum number of characters of the markup of a paragraph that may be a heading."""

TITLE_LIMIT = 100
"""Maximum number of characters of a heading."""

LEAST_HEADINGS = 2
"""The minimum number of headings of a page. If fewer are found, they are ignored."""

_PLACES = re.compile(r"<(/?)(p|td|th|li|nav|footer|script|style|textarea)(?=[\s>])", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\d{1,3}|[ivxlc]{1,6}|[a-z])[.)]\Z", re.IGNORECASE)
_LISTED = re.compile(r"mso-list:[^;\"']{0,40}level(\d)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.]{30,}\.\W*\Z|[,;]\Z")

_SLIDES = re.compile(
    r"<(textarea|script)\b(?=[^>]{0,300}(?:\bid=[\"']?source\b|\bdata-template\b|\btype=[\"']?text/(?:template|(?:x-)?markdown)))"
    r"[^>]{0,600}>",
    re.IGNORECASE,
)
_BREAK = re.compile(r"^[ \t]*(?:-{2,}|\?{3})[ \t]*$", re.MULTILINE)
"""Matches the lines between slides, and those above notes."""


@frozen
class _Paragraph:
    """A paragraph: its first line (from 1), text, and outline level in a list (0 outside lists).

    `lead` is the number of the paragraph with the emphasized words after it, or "" (see `_lead`). `is_bold` says that
    the whole text is bold.
    """

    line: int
    text: str
    level: int
    lead: str
    is_bold: bool

    @property
    def heading(self) -> TextHeading | None:
        """The heading that this paragraph is, or with which it begins, or None."""
        if self.is_bold and len(self.text) <= TITLE_LIMIT and not _SENTENCE.search(self.text):
            return TextHeading(self.line, 1, self.text)
        if self.lead and self.level <= 1 and len(self.lead) <= TITLE_LIMIT:
            return TextHeading(self.line, 2, self.lead)
        return None


def implied_headings(
    content: str, seen: Mapping[int, str] | None
) -> tuple[Sequence[TextHeading], Mapping[int, Sequence[str]]]:
    """Return the headings of the HTML page `content`, and the texts below each by its line.

    Texts before the first heading are at 0. Both results are empty if there are fewer than `LEAST_HEADINGS` headings,
    or if most paragraphs are bold. `seen` has the letters that readers see on each line (None: unknown); other
    paragraphs are left out.
    """
    found = [
        each
        for each in _paragraphs(content)
        if seen is None or letters(each.text)[:40] in letters_from(seen, each.line)
    ]
    headings: list[TextHeading] = []
    texts: dict[int, list[str]] = {0: []}
    now = 0
    for each in found:
        heading = each.heading
        if heading is None or heading.line == now:
            texts[now] += [each.text, ""]
        else:
            headings.append(heading)
            now = each.line
            texts[now] = [_without(each.text, heading.title), ""]
    few = len(headings) < LEAST_HEADINGS or 2 * sum(each.is_bold for each in found) > len(found)
    return ((), {}) if few else (headings, texts)


def _without(text: str, title: str) -> str:
    """Return a text without the title with which it begins. The white space in the two may differ."""
    match = re.match(r"\s*".join(map(re.escape, title.split())), text)
    return text[match.end() :] if match else text


def slide_headings(content: str) -> Sequence[TextHeading]:
    """Return the headings of the Markdown in `content` from which a script such as remark or reveal.js makes slides."""
    found: list[TextHeading] = []
    for block in _SLIDES.finditer(content):
        end = content.find(f"</{block[1]}", block.end())
        markdown = _BREAK.sub("", dedent(unescape(content[block.end() : end if end >= 0 else len(content)])))
        found += MarkdownScan().read(markdown.split("\n"), content.count("\n", 0, block.end()) + 1)
    return found


def _paragraphs(content: str) -> Iterator[_Paragraph]:
    """Yield the paragraphs with text outside of tables, lists, navigation, footers, and scripts."""
    line, counted, start, inside = 1, 0, -1, 0
    for place in _PLACES.finditer(content):
        name, closes = place[2].lower(), bool(place[1])
        if start >= 0 and place.start() - start <= PARAGRAPH_LIMIT and not inside:
            line, counted = line + content.count("\n", counted, start), start
            paragraph = _paragraph(content[start : place.start()], line)
            if has_text(paragraph.text):
                yield paragraph
        start = place.start() if name == "p" and not closes else -1
        if name != "p":
            inside = max(0, inside + (-1 if closes else 1))


def _paragraph(markup: str, line: int) -> _Paragraph:
    """Return the paragraph that begins on line `line` with the given markup, from its start tag on."""
    bold = emphasis = 0
    pieces: list[tuple[str, bool, bool]] = []
    for token in tokens(markup):
        if not isinstance(token, Tag):
            pieces.append((token.words, bold > 0, bold + emphasis > 0))
        elif token.name in ("b", "strong"):
            bold = max(0, bold + (-1 if token.closes else 1))
        elif token.name in ("i", "em", "u"):
            emphasis = max(0, emphasis + (-1 if token.closes else 1))
        elif token.name == "br":
            pieces.append((" ", bold > 0, bold + emphasis > 0))
    lead, text = _lead(pieces), " ".join("".join(words for words, _, _ in pieces).split())
    listed = _LISTED.search(markup[: markup.find(">") + 1])
    return _Paragraph(
        line,
        text,
        int(listed[1]) if listed else 0,
        lead,
        all(is_bold for words, is_bold, _ in pieces if has_text(words)),
    )


def _lead(pieces: Sequence[tuple[str, bool, bool]]) -> str:
    """Return the number of a paragraph with the emphasized words that follow it, or "".

    The result is also "" if other words follow, unless the emphasized ones end with a period or colon.
    """
    said = [(words, emphasized) for words, _, emphasized in pieces if words.strip()]
    reach = next((at for at, (_, emphasized) in enumerate(said) if at and not emphasized), len(said))
    number = said[0][0].strip() if reach > 1 else ""
    words = " ".join("".join(words for words, _ in said[1:reach]).split())
    is_whole = reach == len(said) or words.endswith((".", ":"))
    return f"{number} {words}" if is_whole and _NUMBER.match(number) else ""
