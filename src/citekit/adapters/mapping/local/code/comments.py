"""The sentence that says what a definition is for: from its docstring, or from the comment directly above it."""

from __future__ import annotations

import re

from citekit.adapters.mapping.local.outline import one_line

SENTENCE_LIMIT = 200

_MARKS = re.compile(r"^[ \t]*(?:/\*+!?|\*+/|\*|//[/!]*|#+!?|--+)?[ \t]?|\*+/[ \t]*$", re.MULTILINE)
_QUOTES = re.compile(r"\A[rRuUbB]{0,2}(\"\"\"|'''|\"|')(.*?)\1\s*\Z", re.DOTALL)
_XML_TAG = re.compile(r"</?\w+[^<>]{0,200}>")
_END = re.compile(r"(?<=[^\W\d_][.!?。])(?=\s)|\n\s*\n|\n(?=\s*(?:@\w|:\w+|\\\w|[-=*]{3}))")
_LETTER = re.compile(r"[^\W\d_]")


def comment_sentence(text: str) -> str:
    """The first sentence of comments, their marks removed; empty where they say nothing."""
    return _first_sentence(_XML_TAG.sub(" ", _MARKS.sub("", text)))


def docstring_sentence(literal: str) -> str:
    """The first sentence of a Python docstring, given as it is written with its quotes."""
    quoted = _QUOTES.match(literal)
    return _first_sentence(quoted[2]) if quoted else ""


def _first_sentence(text: str) -> str:
    start = _LETTER.search(text)
    if start is None or text.lstrip()[:1] == "@":
        return ""
    text = text.strip()
    end = _END.search(text)
    return one_line(text[: end.start()] if end else text, SENTENCE_LIMIT)
