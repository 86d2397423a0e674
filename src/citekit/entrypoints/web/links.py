"""Writes the paths of homes and of parts of files in the viewer."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from citekit.domain.address import Address, fragment_of


def home_key(home: Path) -> str:
    """Return the name of a home in addresses of the viewer. It stays the same as long as the home is in the same folder."""
    return sha256(str(home).encode("utf-8", "surrogateescape")).hexdigest()[:10]


def home_path(home: Path) -> str:
    """Return the path of a home in the viewer."""
    return f"/h/{home_key(home)}"


def place_of(address: Address, words: str = "") -> tuple[str, str]:
    """Return the path below a home, and the fragment, that show an address, with `words` marked."""
    marked = f"&quote={quote(words, safe='')}" if words else ""
    return f"/r/{quote(address.resource_id, safe='')}", fragment_of(address.location) + marked
