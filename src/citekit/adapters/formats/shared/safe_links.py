"""Decides which links evidence may keep."""

from __future__ import annotations

import re

_SCHEMES = frozenset(("http", "https", "mailto", "ftp", "tel", "doi", "urn"))
"""URL schemes that a link may use. Others may start programs or open local files."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):")
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\ufeff]+")
"""Characters that programs may ignore in the URL of a link."""


def is_safe_link(address: str, *, relative: bool = True) -> bool:
    """Return whether a URL leads to the web, to a person, or, with `relative`, to a path relative to the document."""
    plain = _IGNORED.sub("", address).lower()
    scheme = _SCHEME.match(plain)
    return scheme[1] in _SCHEMES if scheme else relative and not plain.startswith(("/", "\\"))
