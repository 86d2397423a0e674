"""Converts blocks of text to bytes for storage, and back."""

from __future__ import annotations

import json
import zlib
from array import array

from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units
from citekit.domain.modality import Modality
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.text_search.blocks import TextBlock

_LEVEL = 6


def to_bytes(block: TextBlock) -> bytes:
    """Return a block of text as compressed bytes: a line of JSON with its locations, followed by its text."""
    located = block.located
    if isinstance(located, ExtractedText):
        units = [each.tolist() for each in (located.units.numbers, located.units.starts, located.units.ends)]
        sheets = [[each.name, each.before, each.rows, each.columns] for each in located.sheets]
        plain: dict[str, object] = {"kind": located.kind.value, "units": units, "sheets": sheets}
    else:
        cues = [each.tolist() for each in (located.starts, located.ends, located.since, located.until)]
        machine = [located.transcriber, located.doubtful.tolist(), located.screen_reader, located.timed_by]
        plain = {"modality": located.modality.value, "cues": cues, "machine": machine}
    header = json.dumps({**plain, "hidden": block.hidden}, separators=(",", ":"))
    return zlib.compress(f"{header}\n{located.text}".encode("utf-8", "surrogatepass"), _LEVEL)


def from_bytes(data: bytes) -> TextBlock:
    """Return the block of text that `to_bytes` converted to `data`, which must come from a trusted source."""
    header, _, text = zlib.decompress(data).decode("utf-8", "surrogatepass").partition("\n")
    plain = json.loads(header)
    if "kind" in plain:
        units = Units(*(array("q", each) for each in plain["units"]))
        sheets = [SheetRows(*each) for each in plain["sheets"]]
        return TextBlock(ExtractedText(UnitKind(plain["kind"]), text, units, sheets), plain["hidden"])
    starts, ends, since, until = plain["cues"]
    modality, times = Modality(plain["modality"]), (array("d", since), array("d", until))
    transcriber, doubtful, *more = plain.get("machine", ["", []])
    spans = array("q", starts), array("q", ends)
    recognized = transcriber, array("q", doubtful), *more
    located_text = Transcript(modality, text, *spans, *times, *recognized)
    return TextBlock(located_text, plain["hidden"])
