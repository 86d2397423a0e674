"""Defines tags: words by which a person groups resources, regardless of case."""

from __future__ import annotations

from collections.abc import Iterable

from citekit.domain.errors import RequestRefused

LENGTH = 60
"""The maximum number of characters of a tag."""

COUNT = 100
"""The maximum number of tags of a resource."""


def checked_tag(text: str) -> str:
    """Return a tag without extra white space. Raise `RequestRefused` if it is empty, too long, or unprintable."""
    tag = " ".join(text.split())
    if not tag or len(tag) > LENGTH or not tag.isprintable():
        raise RequestRefused(f"A tag must have 1 to {LENGTH} printable characters.")
    return tag


def changed_tags(tags: Iterable[str], add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the tags, with `add` added and then `remove` removed, sorted. A tag keeps its first spelling.

    Raise `RequestRefused` for an invalid tag in `add`, or for too many tags.
    """
    gone = {each.casefold() for each in remove}
    kept: dict[str, str] = {}
    for tag in (*tags, *map(checked_tag, add)):
        if tag.casefold() not in gone:
            kept.setdefault(tag.casefold(), tag)
    if len(kept) > COUNT:
        raise RequestRefused(f"A resource can have at most {COUNT} tags. Remove other tags first.")
    return tuple(kept[each] for each in sorted(kept))
