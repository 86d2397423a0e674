"""Formats the text that `ReadText` returned as compact lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citekit.domain.text_search.read import ReadTextAnswer


def read_lines(answer: ReadTextAnswer, indent: str = "") -> Iterator[str]:
    """Yield the address and titles, the text, and notes."""
    path = " > ".join(" ".join(title.split()) for title in answer.titles)
    place = answer.address or ("Text without an address" if answer.text else "No text")
    yield f"{place}{f'  {path}' if path else ''}"
    yield from (f"{indent}{line}" for line in answer.text.split("\n")) if answer.text else ()
    if answer.next_cursor is not None:
        about = "about " if answer.is_estimate else ""
        yield f"[cut: the whole part has {about}{answer.total} characters; continue with cursor {answer.next_cursor}]"
    yield from (f"[note: {note}]" for note in answer.notes)
    if answer.stale is not None:
        yield f"[stale: {' '.join(answer.stale.split())}]"
