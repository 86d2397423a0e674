"""How words of files stand in what an agent reads: inside of JSON texts, where all that steers a reader is an escape.

A title cannot end the text that it stands in, nor begin an entry or a line: JSON writes quotation marks and line ends as
escapes. Beyond that, what is not seen (zero widths, tags, turns of direction), and what makes a client that takes the
answer for Markdown or HTML load something from elsewhere, is written as an escape of JSON too. So the data stay the same to
the character, and the text shows all of it.
"""

from __future__ import annotations

import re
from functools import cache

from citekit.domain.unicode_controls import in_json, printable

_LOADING = (
    "a|audio|base|body|embed|form|frame|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|table|td|track"
    "|video"
)
"""Elements of HTML that name something elsewhere."""


def quoted_json(text: str) -> str:
    """The JSON document `text` with the same data, in which nothing is unseen and nothing loads anything.

    >>> quoted_json('{"title":"![x](http://a/b.png)"}')
    '{"title":"!\\\\u005bx]\\\\u0028http://a/b.png)"}'
    """
    text = in_json(text)
    if not _may_load(text):
        return text
    return _loading().sub(lambda found: found[0][:-1] + f"\\u{ord(found[0][-1]):04x}", text)


def quoted(text: str) -> str:
    """A text of CiteKit's that quotes files, such as an error: one line, in which the same stand as escapes.

    >>> quoted("There is no node 'a" + chr(10) + "![x](http://a)'.")
    "There is no node 'a\\\\x0a!\\\\x5bx]\\\\x28http://a)'."
    """
    text = printable(text)
    if not _may_load(text):
        return text
    return _loading().sub(lambda found: f"{found[0][:-1]}\\x{ord(found[0][-1]):02x}", text)


def _may_load(text: str) -> bool:
    return "![" in text or "](" in text or "<" in text


@cache
def _loading() -> re.Pattern[str]:
    return re.compile(rf"!\[|\]\(|<(?=/?(?:{_LOADING})\b)", re.IGNORECASE)
