"""Converts text that was read to plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citekit.domain.text_search.read import ReadTextAnswer


def to_plain(answer: ReadTextAnswer) -> dict[str, Any]:
    """Return the text with its address as plain data, without empty optional fields."""
    plain: dict[str, Any] = {
        "address": None if answer.address is None else str(answer.address),
        "node_id": None if answer.node is None else answer.node.id,
        "titles": list(answer.titles),
        "text": answer.text,
        "total_chars": answer.total,
    }
    if answer.is_estimate:
        plain["is_estimate"] = True
    if answer.next_cursor is not None:
        plain["next_cursor"] = answer.next_cursor
    if answer.stale is not None:
        plain["stale"] = answer.stale
    if answer.notes:
        plain["notes"] = list(answer.notes)
    return plain
