"""The YAML between two `---` at the start of a Markdown file, as static site generators have it."""

from __future__ import annotations

import re

from attrs import frozen

BYTE_ORDER_MARK = "\ufeff"
_FENCE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


@frozen
class Parted:
    """A file in two: the front matter without its fences, and the rest."""

    matter: str
    body: str


def parted(text: str) -> Parted | None:
    """The parts of `text`, or None where it has no front matter: only `---` alone on a line opens and closes it."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    opening = _FENCE.match(text)
    if opening is None:
        return None
    closing = _FENCE.search(text, opening.end() + 1)
    if closing is None:
        return None
    return Parted(text[opening.end() : closing.start()], text[closing.end() :])


def is_open(text: str) -> bool:
    """Whether front matter begins, be it closed or not."""
    return _FENCE.match(text.removeprefix(BYTE_ORDER_MARK)) is not None


def first_heading(body: str) -> str | None:
    """The first heading of level 1 without what is no letter in front of it, up to a colon."""
    found = re.search(r"^# +(.+?)\s*$", body, re.MULTILINE)
    if found is None:
        return None
    return re.sub(r"^[\W_]+", "", found[1]).partition(":")[0].strip() or None


def first_bold_line(body: str) -> str | None:
    """The text of the first line that is bold from end to end."""
    found = re.search(r"^\*\*([^*\r\n]+)\*\*[ \t]*\r?$", body, re.MULTILINE)
    return (found and found[1].strip()) or None
