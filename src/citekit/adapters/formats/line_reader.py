"""Reads the visible text of text files line by line, and the metadata at the beginning of the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from citekit.adapters.formats.data.calendar import calendar_visible_lines
from citekit.adapters.formats.markdown.plain_lines import front_matter, markdown_visible_lines
from citekit.adapters.formats.markdown.plain_lines_by_rules import inline
from citekit.adapters.formats.markup.rst_plain_lines import rst_visible_lines
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.source_lines import head_lines, read_lines
from citekit.adapters.formats.subtitles.plain_lines import (
    dialogue_visible_lines,
    split_subtitles,
    subtitle_visible_lines,
)
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

_HEADER = re.compile(r"(Title|Author|Language):[ \t]+(\S.*)")
_FIELD = re.compile(
    r"(?:[ \t]*\"(?P<quoted>title|authors?|language|lang|isbn)\"|(?P<plain>title|authors?|language|lang|isbn))"
    r"[ \t]*[:=][ \t]*(?P<value>.*?),?[ \t]*$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)")
_HEADING = re.compile(r" {0,3}#(?!#)[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r" {0,3}=+[ \t]*$")


def text_facts(lines: Sequence[str]) -> BookFacts:
    """Return the metadata in the header of a plain text file.

    Header lines start with `Title:`, `Author:`, or `Language:`, as in Project Gutenberg files. An indented line
    continues a header line. Lines after `*** START` are ignored.
    """
    found: dict[str, list[str]] = {"Title": [], "Author": [], "Language": []}
    name = ""
    for line in lines:
        header = _HEADER.match(line)
        if header:
            name = header[1]
            found[name].append(header[2].strip())
        elif name and line[:1] in (" ", "\t") and line.strip():
            found[name][-1] += f" {line.strip()}"
        else:
            name = ""
        if line.startswith("*** START"):
            break
    return BookFacts(
        title=next(iter(found["Title"]), None),
        authors=found["Author"],
        language=language_code(next(iter(found["Language"]), None)),
    )


def markdown_facts(lines: Sequence[str]) -> BookFacts:
    """Return the title, authors, language, and ISBN from the front matter of a Markdown file.

    Without a title, the first level-1 heading is the title.
    """
    front = front_matter(lines)
    said: dict[str, list[str]] = {}
    for name, value in _fields(lines[1 : front - 1] if front else ()):
        said.setdefault(name, []).append(value)
    authors = [*said.get("author", ()), *said.get("authors", ())]
    title = next(iter(said.get("title", ())), None) or _first_heading(lines[front:])
    isbn = next(iter(said.get("isbn", ())), None)
    return BookFacts(
        title=title,
        authors=authors,
        language=language_code(next(iter([*said.get("language", ()), *said.get("lang", ())]), None)),
        identifiers={"isbn": isbn} if isbn else {},
    )


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each title, author, language, and ISBN field in the front matter.

    A list, `[a, b]` or with one `- a` per line, yields a pair for each item.
    """
    name = ""
    for line in lines:
        field, item = _FIELD.match(line), _ITEM.match(line)
        if field:
            name, value = (field["quoted"] or field["plain"]).lower(), field["value"].strip()
            listed = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" else [value]
            yield from ((name, _unquoted(each)) for each in listed if _unquoted(each))
        elif item and name:
            yield name, _unquoted(item[1])
        elif line[:1].strip():
            name = ""


def _unquoted(value: str) -> str:
    text = value.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _first_heading(lines: Sequence[str]) -> str | None:
    fence = ""
    for number, line in enumerate(lines):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        heading = _HEADING.match(line)
        if not fence and heading and inline(heading[1]).strip():
            return inline(heading[1]).strip()
        if not fence and number and _RULE.match(line) and lines[number - 1].strip():
            return inline(lines[number - 1]).strip()
    return None


_HEAD = 300
_STEP = 20_000
_SPOKEN: dict[str, Callable[[Sequence[str]], Iterable[str]]] = {
    "markdown": markdown_visible_lines,
    "rst": rst_visible_lines,
    "subtitles": subtitle_visible_lines,
    "ssa": dialogue_visible_lines,
    "calendar": calendar_visible_lines,
}
"""Functions that remove the markup of a format, and return one line, perhaps empty, per input line."""


class LinesTextReader:
    """Reads all text formats except HTML. Each unit is a line that is not blank, without surrounding spaces.

    If `as_seen` is set, the mark `CUT` separates subtitles at long pauses.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._spoken = {**_SPOKEN, "subtitles": split_subtitles} if as_seen else _SPOKEN

    def supports(self, format: Format) -> bool:
        """See `TextReader.supports`. The formats are all text formats except HTML."""
        return format.modality is Modality.TEXT and format.name != "html"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Line feeds join the lines, including empty ones. A file of blank lines has no text."""
        lines = read_lines(source.path, progress)
        spoken = self._spoken.get(source.format.name)
        return lined(lines if spoken is None else list(spoken(lines)), progress)

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`.

        The facts of Markdown come from the front matter or the first level-1 heading, and those of plain text from the
        header of Project Gutenberg files. Other formats have none.
        """
        head = head_lines(source.path, _HEAD)
        if source.format.name == "markdown":
            return markdown_facts(head)
        return text_facts(head) if source.format.name == "text" else BookFacts()


def lined(lines: Sequence[str], progress: Progress = silent) -> ExtractedText:
    """Return `lines` as extracted text, with a unit for each line that is not blank, numbered from 1.

    If all lines are blank, the text is empty.
    """
    units, start = Units(), 0
    for number, line in enumerate(lines, 1):
        if number % _STEP == 0:
            progress(number, len(lines), "reading lines")
        kept = line.strip()
        if kept:
            first = start + line.index(kept[0])
            units.add(number, first, first + len(kept))
        start += len(line) + 1
    return ExtractedText(UnitKind.LINE, "\n".join(lines) if len(units) else "", units)
