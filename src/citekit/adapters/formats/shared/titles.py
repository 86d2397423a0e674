"""Decides whether a text looks like a title, and whether a document confirms its title in metadata."""

from __future__ import annotations

import re

from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.domain.vocabulary import (
    APPENDIX,
    BOOK_HEADING,
    DOCUMENT,
    INSTITUTION,
    LEADING_INSTITUTION,
    PAPER_HEADING,
    STAMP,
    TOC_HEADING,
    any_of,
)

_PRODUCT = re.compile(
    r"^(microsoft (office )?(word|powerpoint|excel)|powerpoint presentation|layout|adobe \w+( pdf)?)\s*([-:]\s*|$)",
    re.I,
)
"""Matches the name of a program, which many programs write before a title."""

_PRESENTATION = re.compile(
    r"(?=.*powerpoint)(?:(?:a?pr[aeäæé]sent|prezent|през[еє]нт|esity|bemutat|sunu)\w*|standard|d[aeiou]l?|van|programu|aplikace|powerpoint"
    r"|演示文稿|簡報|プレゼンテーション|프레젠테이션|[\s-])+",
    re.IGNORECASE,
)
"""Matches the title that PowerPoint gives to new presentations, in its languages (`Présentation PowerPoint`)."""

_MARKUP = re.compile(r"</?(?:span|font|div|p|b|i|u|em|strong|sup|sub|br)(?:\s[^<>]*)?/?>", re.I)
_FILE_NAME = re.compile(
    r"\.(docx?|dvi|pdf|tex|pptx?|xlsx?|indd|qxd|p65|fm|rtf|odt|odp|ps|eps|html?|txt|ai|cdr|pmd|pages|key|numbers)$"
    r"|^\S*(_\S*_|_\S*\d|\d\S*_)\S*$|_\S+_\d",
    re.I,
)
_PLACEHOLDER = re.compile(
    r"^(untitled(?: (?:document|page|presentation|spreadsheet|form|book))?"
    r"|(?:document|presentation|book|slide|title|preview|main)( title)?|pdf|unknown|none|no title|unbenannt)?"
    r"[\s\d._-]*(?:\.\w{3,4})?$|^arxiv:|^click to (?:edit|add)\b|^(?:type|enter) (?:the )?\w* ?title\b",
    re.I,
)
_NO_TITLE = re.compile(r"://|www\.|\S@\S|^\W*(page|p\.)?\W*\d+\W*$|^(isbn|issn|doi)\b|\(cid:", re.I)
_PART = re.compile(
    rf"(?:{any_of(PAPER_HEADING, BOOK_HEADING, TOC_HEADING, APPENDIX, ('executive summary',))})\W*", re.I
)
_DATE = r"(?:[^\W\d_]+\.?\s*\d{1,2}\W+|\d{1,2}\W+(?:\d{1,2}|[^\W\d_]+)\W+)\d{2,4}"
_STAMP = re.compile(rf"(?:{any_of(STAMP)})(?:\W+{_DATE})?\W*", re.I)
_DOCUMENT = re.compile(rf"\b(?:{any_of(DOCUMENT)})\b", re.I)
_INSTITUTION = re.compile(
    rf"(?:{any_of(LEADING_INSTITUTION)})\b.*"
    rf"|.*\b(?:{any_of(INSTITUTION, LEADING_INSTITUTION)})(?:\W*|,.*|\s(?:of|for|der|des|für)\s.*)",
    re.I,
)
"""Matches the name of an institution: it begins or ends with a word for one, or a field or place follows this word."""

INSTITUTION_LENGTH = 90
"""The maximum number of characters of the name of an institution."""

_LONG_WORD = re.compile(r"[^\W\d_]{4,}|[\u0600-\u06ff]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


def written_title(written: str) -> str:
    """Return a title from metadata without markup and without the name of the program that wrote it.

    Return "" for a placeholder, a file name, or unreadable text.
    """
    title = _PRODUCT.sub("", one_line(_MARKUP.sub("", written), TITLE_LIMIT)).strip(" \u2013\u2014|-")
    sensible = WORD.search(title) and "\ufffd" not in title and not _PRESENTATION.fullmatch(title)
    return "" if not sensible or _PLACEHOLDER.match(title) or _FILE_NAME.search(title) else title


def is_mistake(title: str) -> bool:
    """Return whether the title of a book is a placeholder (`Unknown`) or the name of a part (`Table of Contents`)."""
    said = title.strip()
    return bool(WORD.search(said) and (_PLACEHOLDER.match(said) or _PART.fullmatch(said)))


def words_of(text: str) -> list[str]:
    """Return the words of a text with at least three letters (two in East Asian scripts), in lower case."""
    return [found.casefold() for found in WORD.findall(text)]


def is_confirmed(title: str, words: set[str]) -> bool:
    """Return whether `words`, the words of a document, contain more than half of the words of a title from metadata.

    A title of one word is not confirmed. If `words` is empty, every title is.
    """
    wanted = set(words_of(title))
    return not words or (len(wanted) > 1 and 2 * len(wanted & words) > len(wanted))


def may_be_title(text: str) -> bool:
    """Return whether a printed text may be the title of a document.

    A title contains a word and mostly letters, and has at most `TITLE_LIMIT` characters. It is not an address, an
    identifier, a page number, a mark such as `DRAFT`, or the heading of a part that many documents have.
    """
    letters = sum(character.isalpha() for character in text)
    return bool(
        _LONG_WORD.search(text)
        and len(text) <= TITLE_LIMIT
        and 2 * letters >= len(text)
        and not _NO_TITLE.search(text)
        and not _PART.fullmatch(text)
        and not _STAMP.fullmatch(text)
    )


def is_institution(text: str) -> bool:
    """Return whether a text that looks like a title is the name of an institution (`University of Toronto`)."""
    plain = len(text) <= INSTITUTION_LENGTH and not any(map(str.isdigit, text)) and not _DOCUMENT.search(text)
    return plain and bool(_INSTITUTION.fullmatch(text))
