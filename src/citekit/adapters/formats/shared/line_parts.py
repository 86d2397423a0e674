"""Extracts lines as a file that programs for its format can open: with a header, or as whole cells or records.

The lines themselves are copied byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.system.files import open_for_reading, unreadable, writing
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Lines, Location
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

SIZE_LIMIT = 128 * 1024 * 1024
"""The maximum size in bytes of a file from which parts are made."""

_ONLY_LINES = "Only the lines were copied, because no valid file could be made from them."
"""Receipts repeat this text, so that they are no longer genuine if it changes."""


@frozen
class LinePart:
    """A part of a text file as a file of the same format: its bytes, and the lines of the source in it."""

    data: bytes = field(repr=False)
    extent: Lines
    notes: tuple[str, ...] = ()


PartOf = Callable[[Path, Lines], LinePart | None]
"""A function that returns the part of a file with the given lines, or None if no valid file can be made from them.

It raises `LocationOutside` if the lines do not exist, and the errors of `open_text`.
"""


@frozen
class SourceBytes:
    """A text file in memory, whose lines are copied byte for byte."""

    text: TextFile
    data: bytes = field(repr=False)

    def lines(self, first: int, last: int) -> bytes:
        """Return the bytes of the lines from `first` to `last`; nothing if `last` is before `first`."""
        return self.data[slice(*self.text.index.byte_range(Lines(first, last)))] if last >= first else b""

    def after(self, header: bytes, first: int, last: int) -> bytes:
        """Return `header` followed by the lines from `first` to `last`.

        If `header` is empty, the result starts with the byte-order mark of the file.
        """
        return (header or (self.data[: self.text.mark] if first > 1 else b"")) + self.lines(first, last)


def source_bytes(path: Path, lines: Lines) -> SourceBytes | None:
    """Read the file at `path`; return None if it is larger than `SIZE_LIMIT`. Raise the errors of `PartOf`."""
    text = open_text(path)
    text.index.byte_range(lines)
    if text.index.size > SIZE_LIMIT:
        return None
    try:
        with open_for_reading(path) as stream:
            return SourceBytes(text, stream.read(text.index.size))
    except OSError as error:
        raise unreadable(error, path) from error


@frozen
class LinePartExtractor:
    """Extracts lines as files of their own, in one form, with the function in `parts` for each format name."""

    identity: ExtractorIdentity
    parts: Mapping[str, PartOf]
    text: TextExtractor
    form: Form = Form.NATIVE

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return `form` for lines of a format in `parts`, and no forms for anything else."""
        return (self.form,) if format.name in self.parts and isinstance(location, Lines) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. If no part can be made, write only the lines, and add a note."""
        if not isinstance(location, Lines) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"These lines are not available in the form {options.form.value}.")
        progress(0, 1, "reading the file")
        part = self.parts[source.format.name](source.path, location)
        if part is None:
            copied = self.text.extract(source, location, evolve(options, form=Form.SOURCE), target, progress)
            return evolve(copied, suffix=".txt", media_type="text/plain", notes=(*copied.notes, _ONLY_LINES))
        with writing(target):
            target.write_bytes(part.data)
        return Extraction(suffix="", media_type="", extent=part.extent, notes=part.notes)  # same type as the source
