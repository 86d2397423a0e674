"""Text that is in a file but that nobody sees: how a text holds it, and what a verdict says of it."""

from __future__ import annotations

from citekit.domain.library.extracted_text import ExtractedText

NOT_VISIBLE = (
    "not visible: the page does not show these words (they are covered, transparent, tiny, in the color of what is below "
    "them, or replacement text for other words)"
)
"""The note of a text that also holds what nobody sees."""

_MARK = "\ufdd3"
"""Between the text of a page that is shown and all of it; a noncharacter, which no text of a file keeps."""


def with_hidden(shown: str, whole: str) -> str:
    """One text of both; `shown` alone if they are the same."""
    return shown if shown == whole else f"{shown}{_MARK}{whole}"


def split_hidden(text: ExtractedText) -> tuple[ExtractedText, ExtractedText | None]:
    """What is shown, and all of it if that is more. For texts of pages."""
    if _MARK not in text.text:
        return text, None
    pages = [text.text[unit.start : unit.end].partition(_MARK) for unit in text.units]
    shown = ExtractedText.joined(text.kind, [before for before, _, _ in pages], "\n", unread=text.unread)
    whole = [after if mark else before for before, mark, after in pages]
    return shown, ExtractedText.joined(text.kind, whole, "\n", unread=text.unread)
