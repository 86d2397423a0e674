"""Removes API keys from texts that a service sends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Characters that are not displayed, in addition to those of the Unicode category Cf (format)."""


def redacted(text: str, redact: Callable[[str], str]) -> str:
    """Return `text` passed through `redact`, even if invisible characters split a secret in it.

    In that case, they are removed, so that the secret is not whole again if another program removes them later.
    """
    text = redact(text)
    if text.isascii():
        return text
    visible = "".join(c for c in _IGNORABLE.sub("", text) if unicodedata.category(c) != "Cf")
    return clean if (clean := redact(visible)) != visible else text


def without_key(text: str, key: str | None) -> str:
    """Return `text` with the words "(the key)" in place of `key`. See `redacted`."""
    return redacted(text, lambda each: each.replace(key, "(the key)")) if key else text
