"""Converts quotable texts to plain data for storage, and back."""

from __future__ import annotations

from array import array

from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units
from citekit.domain.modality import Modality
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.transcript import Transcript


def to_plain(quotable: Quotable) -> dict[str, object]:
    """Return a quotable text as plain data for JSON."""
    placed = quotable.placed
    plain: dict[str, object] = {
        "text": placed.text,
        "letters": quotable.letters,
        "starts": quotable.starts.tolist(),
        "letter_starts": quotable.letter_starts.tolist(),
        "note": quotable.note,
    }
    if isinstance(placed, ExtractedText):
        units = placed.units
        numbers, starts, ends = units.numbers.tolist(), units.starts.tolist(), units.ends.tolist()
        sheets = [[each.name, each.before, each.rows, each.columns] for each in placed.sheets]
        return {
            **plain,
            "kind": placed.kind.value,
            "units": [numbers, starts, ends],
            "sheets": sheets,
            "unread": list(placed.unread),
            "recognized": list(placed.recognized),
        }
    assert isinstance(placed, Transcript)
    cues = [placed.starts.tolist(), placed.ends.tolist(), placed.since.tolist(), placed.until.tolist()]
    machine = [placed.transcriber, placed.doubtful.tolist(), placed.screen_reader, placed.timed_by]
    return {**plain, "modality": placed.modality.value, "cues": cues, "machine": machine}


def from_plain(plain: dict[str, object]) -> Quotable:
    """Return the quotable text that `to_plain` converted to `plain`.

    Raise `KeyError`, `ValueError`, `TypeError`, or `OverflowError` if the data is not valid.
    """
    known = dict(plain)
    text, letters, note = (str(known[name]) for name in ("text", "letters", "note"))
    starts, letter_starts = array("q", _list(known["starts"])), array("q", _list(known["letter_starts"]))
    placed: ExtractedText | Transcript
    if "kind" in known:
        numbers, begin, end = (array("q", _list(each)) for each in _list(known["units"]))
        sheets = [SheetRows(str(name), *map(int, rest)) for name, *rest in _list(known.get("sheets", []))]
        unread, recognized = (array("q", _list(known.get(name, []))) for name in ("unread", "recognized"))
        units = Units(numbers, begin, end)
        placed = ExtractedText(UnitKind(str(known["kind"])), text, units, sheets, unread, recognized)
    else:
        begins, ends, since, until = _list(known["cues"])
        times = array("d", since), array("d", until)
        transcriber, doubtful, *more = _list(known.get("machine", ["", []]))
        screen_reader, timed_by = map(str, more) if more else ("", "")
        spans = array("q", begins), array("q", ends)
        doubts = array("q", _list(doubtful))
        modality = Modality(str(known["modality"]))
        placed = Transcript(modality, text, *spans, *times, str(transcriber), doubts, screen_reader, timed_by)
    return Quotable(placed, letters, starts, letter_starts, note)


def _list(value: object) -> list:  # type: ignore[type-arg]  # of whatever JSON holds; the arrays check it
    if not isinstance(value, list):
        raise TypeError("The value must be a list.")
    return value
