"""Handles text in a file that readers do not see: how extracted text stores it, and the note about it in a verdict."""

from __future__ import annotations

from citekit.domain.library.extracted_text import ExtractedText

NOT_VISIBLE = (
    "not visible: the page does not show these words (they are covered, transparent, tiny, in the color of what is below "
    "them, outside the page, on a hidden slide, or replacement text for other words)"
)
"""The note of a text that includes hidden text."""

_MARK = "\ufdd3"
"""Separates the visible text of a page from its complete text. It is a noncharacter, which text from files never
contains.
"""


def with_hidden(shown: str, whole: str) -> str:
    """Join the visible text `shown` and the complete text `whole` of a page, so that `split_hidden` can split them.

    Return only `shown` if the two are equal.
    """
    return shown if shown == whole else f"{shown}{_MARK}{whole}"


def split_hidden(text: ExtractedText) -> tuple[ExtractedText, ExtractedText | None]:
    """Return the visible text, and the complete text if it differs from the visible text; otherwise None.

    The text must be divided into pages whose texts were made by `with_hidden`.
    """
    if _MARK not in text.text:
        return text, None
    pages = [text.text[unit.start : unit.end].partition(_MARK) for unit in text.units]
    shown, whole = (
        ExtractedText.joined(text.kind, each, "\n", unread=text.unread, recognized=text.recognized)
        for each in (
            [before for before, _, _ in pages],
            [after if mark else before for before, mark, after in pages],
        )
    )
    return shown, whole
