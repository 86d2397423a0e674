"""Handles text in a file that readers do not see."""

from __future__ import annotations

from citekit.domain.library.extracted_text import ExtractedText, UnitKind

NOT_VISIBLE = (
    "not visible: the file does not show these words (they are covered, transparent, tiny, in the color of what is below "
    "them, outside the page, in a comment or a hidden element, on a hidden slide or sheet, in hidden cells, or replacement "
    "text for other words)"
)
"""The note of a text that includes hidden text."""

_MARK = "\ufdd3"
"""Separates the visible text of a page, slide, or row from its complete text. It is a noncharacter."""


def with_hidden(shown: str, whole: str) -> str:
    """Return the visible text `shown` and the complete text `whole` of a page, slide, or row, joined by a mark for
    `split_hidden`.

    If they are equal, return only one of them. A mark that comes from the file becomes a replacement character.
    """
    shown, whole = (each.replace(_MARK, "\ufffd") for each in (shown, whole))
    return shown if shown == whole else f"{shown}{_MARK}{whole}"


def split_hidden(text: ExtractedText) -> tuple[ExtractedText, ExtractedText | None]:
    """Return the visible text, and the complete text or, if it is the same, None.

    The texts of all units must have been made by `with_hidden`, because a file can contain the same mark. A row that
    shows nothing is not a unit of the visible text.
    """
    if _MARK not in text.text:
        return text, None
    units = [(unit.number, *text.text[unit.start : unit.end].partition(_MARK)) for unit in text.units]
    keeps_empty = text.kind is not UnitKind.ROW
    shown = ((number, before) for number, before, _, _ in units if before or keeps_empty)
    whole = ((number, after if mark else before) for number, before, mark, after in units)
    return text.with_units(shown), text.with_units(whole)
