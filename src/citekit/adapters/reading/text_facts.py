"""What the first lines of a text say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citekit.adapters.reading.book_facts import language_code
from citekit.adapters.reading.markdown_lines import front_matter
from citekit.adapters.reading.markdown_rules import inline
from citekit.domain.library.books import BookFacts

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
    """The header of a plain text: `Title:`, `Author:` and `Language:` at the beginnings of lines, as Project Gutenberg
    writes them; a line indented below such a line goes on with it."""
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
    """Title, authors, language, ISBN of the front matter (YAML, TOML, JSON of one level); else the first level-1 heading."""
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
    """(name, value): a list gives each of its items, in a line `[a, b]` or in lines `- a`."""
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
