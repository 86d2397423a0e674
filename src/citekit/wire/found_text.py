"""Converts the results of a text search to plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citekit.domain.text_search.found import FoundText, TextHit


def to_plain(found: FoundText) -> dict[str, Any]:
    """Return the results of a text search as plain data, without empty optional fields."""
    plain: dict[str, Any] = {
        "hits": [_hit(each) for each in found.hits],
        "total": found.total,
        "searched": found.searched,
    }
    if found.pages is not None:
        plain["pages"] = found.pages
    if found.stale:
        plain["stale"] = dict(found.stale)
    if found.skipped:
        plain["skipped"] = dict(found.skipped)
    if found.absent:
        plain["absent"] = list(found.absent)
    if found.instead:
        plain["instead"] = dict(found.instead)
    return plain


def _hit(hit: TextHit) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "address": str(hit.address),
        "text": hit.text,
        "kind": hit.kind.name.lower(),
        "node_id": None if hit.node is None else hit.node.id,
        "titles": list(hit.titles),
    }
    if hit.columns:
        plain["columns"] = hit.columns
    if hit.before:
        plain["before"] = list(hit.before)
    if hit.after:
        plain["after"] = list(hit.after)
    if hit.hidden:
        plain["hidden"] = True
    return plain
