"""Writes the paths of homes and of parts of files in the viewer."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from citekit.domain.address import Address, fragment_of, parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused

if TYPE_CHECKING:
    from citekit.container import Container

MAP_URI = "citekit://maps/"
"""The start of the MCP URI of a map, before the resource ID."""

EVIDENCE_URI = "citekit://evidence/"
"""The start of the MCP URI of evidence, before its digest."""


def home_key(home: Path) -> str:
    """Return the key of a home for URLs of the viewer, which depends only on its path."""
    return sha256(str(home).encode("utf-8", "surrogateescape")).hexdigest()[:10]


def home_path(home: Path) -> str:
    """Return the path of a home in the viewer."""
    return f"/h/{home_key(home)}"


def place_of(address: Address, words: str = "", said: str = "") -> tuple[str, str]:
    """Return the path below a home, and the fragment, that show an address.

    The viewer marks the quote `words`, and the words that differ from `said`, the text of a model.
    """
    given = {"quote": words, "said": said}
    marked = "".join(f"&{name}={quote(text, safe='')}" for name, text in given.items() if text)
    return resource_place(address.resource_id), fragment_of(address.location) + marked


def resource_place(resource_id: str) -> str:
    """Return the path, below that of the home, of the page that shows a whole file."""
    return f"/r/{quote(resource_id, safe='')}"


def place_named(app: Container, uri: str) -> tuple[str, str]:
    """Return the path below a home, and the fragment, that show an address or the target of a URI of a map or of
    evidence.

    Raise `RequestRefused` for a malformed URI of evidence, `ReceiptMissing` if the evidence is not known or stored, and
    the errors of addresses and maps.
    """
    if uri.startswith(MAP_URI):
        name = unquote(uri.removeprefix(MAP_URI))
        app.maps.card(name)
        return resource_place(name), ""
    if uri.startswith(EVIDENCE_URI):
        try:
            digest = Digest(uri.removeprefix(EVIDENCE_URI).partition("/")[0])
        except ValueError:
            raise RequestRefused("The URI of evidence must have a digest of 64 lowercase hexadecimal digits.") from None
        address = app.evidence_content.receipt(digest).address
        app.maps.card(address.resource_id)
    else:
        address = parse_address(uri)
        app.resolve(address, virtual=True)
    return place_of(address)
