"""The part of a URI behind its `#`, and the name=value pairs inside it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote


def bare(text: str) -> str:
    """What follows the `#` of a URI; a text without one is taken for the fragment itself.

    >>> bare("https://example.org/talk.mp4#t=1,2"), bare("#t=1,2"), bare("t=1,2")
    ('t=1,2', 't=1,2', 't=1,2')
    """
    before, mark, after = text.partition("#")
    return after if mark else before


def pairs(fragment: str, separators: str = "&") -> Iterator[tuple[str, str, str]]:
    """(name, value, the piece as it stands) of every name=value, percent-decoded.

    Pieces that are no such pair, or do not decode as UTF-8, are passed over (Media Fragments 1.0, section 5.1.1).
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
