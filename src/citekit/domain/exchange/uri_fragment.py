"""Finds the fragment of a URI and the name=value pairs in it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote


def bare(text: str) -> str:
    """Return the fragment of a URI. A text without `#` is itself the fragment.

    >>> bare("https://example.org/talk.mp4#t=1,2"), bare("#t=1,2"), bare("t=1,2")
    ('t=1,2', 't=1,2', 't=1,2')
    """
    before, mark, after = text.partition("#")
    return after if mark else before


def pairs(fragment: str, separators: str = "&") -> Iterator[tuple[str, str, str]]:
    """Yield the name, the value, and the original text of each name=value pair in a fragment.

    Names and values are percent-decoded. Each character of `separators` separates pairs. Text that is not a pair or not
    valid UTF-8 is skipped (Media Fragments 1.0, section 5.1.1).
    """
    for separator in separators[1:]:
        fragment = fragment.replace(separator, separators[0])
    for piece in fragment.split(separators[0]):
        name, equals, value = piece.partition("=")
        try:
            decoded = unquote(name, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError:
            continue
        if equals and name:
            yield *decoded, piece
