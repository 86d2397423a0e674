"""Escapes untrusted text from files in the results that agents read.

JSON escapes quotation marks and line ends, so a title cannot end its string early. This module escapes invisible
characters (zero-width characters, tags, direction controls), Markdown links and images, and the HTML elements whose
usual attributes make a client load a resource (`_LOADING`), but not other markup, such as a `style` attribute.
"""

from __future__ import annotations

import re
from functools import cache

from citekit.domain.unicode_controls import in_json, printable

_LOADING = (
    "a|audio|base|body|embed|form|frame|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|table|td|track"
    "|video"
)
"""HTML elements that can refer to external resources."""


def quoted_json(text: str) -> str:
    r"""Return the JSON document `text` with invisible characters and risky markup escaped. The data stays the same.

    Risky markup makes a client that renders Markdown or HTML load a resource.

    Example:
        >>> quoted_json('{"title":"![x](http://a/b.png)"}')
        '{"title":"!\\u005bx]\\u0028http://a/b.png)"}'
    """
    text = in_json(text)
    if not _may_load(text):
        return text
    return _loading().sub(lambda found: found[0][:-1] + f"\\u{ord(found[0][-1]):04x}", text)


def quoted(text: str) -> str:
    r"""Return a message, such as an error, on one line, with invisible characters and risky markup escaped.

    Risky markup makes a client that renders Markdown or HTML load a resource.

    Example:
        >>> quoted("There is no node 'a" + chr(10) + "![x](http://a)'.")
        "There is no node 'a\\x0a!\\x5bx]\\x28http://a)'."
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
