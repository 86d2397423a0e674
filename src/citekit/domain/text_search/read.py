"""Defines the result of reading a part of a file."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.domain.address import Address
from citekit.domain.node import Node


@frozen(kw_only=True)
class ReadTextAnswer:
    """The text of a part, or as much of it as fits.

    `address` is the location of `text`, or None if there is no text or it is outside the file's extent. `node` is the
    requested node or, for another part, the deepest node that contains it, or None; `titles` are those from the top of
    the map down to it. `total` is the number of characters of the whole part, an estimate if `is_estimate`.
    `next_cursor` continues a text that was cut. `stale` says that the file has changed or is missing; the text is then
    that of the mapped version. `notes` are remarks, such as that other text of a page is included, that software
    recognized the words, or that there is no text.
    """

    address: Address | None
    node: Node | None
    titles: Sequence[str]
    text: str
    total: int
    is_estimate: bool = False
    next_cursor: str | None = None
    stale: str | None = None
    notes: Sequence[str] = ()
