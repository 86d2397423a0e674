"""Implements the command `citekit validate`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve, frozen

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.application.validate_map import MapReport
    from citekit.wire.locations import BoxOrder
    from citekit.wire.map_edits import Edit


MOST = 1_000
"""The maximum number of faults, and of warnings, in text output."""


@click.command("validate", cls=Command)
@click.argument("file", metavar="FILE_OR_ID")
@click.option(
    "--bbox",
    type=click.Choice(["xyxy", "xywh"]),
    default="xyxy",
    show_default=True,
    help="The box format: two corners (xyxy), or a corner and the size (xywh).",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Repair what can be repaired safely. Without --output, the original file is kept as a .bak file.",
)
@click.option(
    "--output",
    "-o",
    metavar="PATH",
    help="With --fix: write the repaired map to this path, and leave the original file unchanged.",
)
@click.option("--force", is_flag=True, help="With --output: replace an existing file.")
@pass_session
def command(session: Session, file: str, bbox: str, fix: bool, output: str | None, force: bool) -> None:
    """Validate a map: report all errors in it, and make safe repairs with --fix.

    Give the file of a map, or the ID of a mapped resource. Each error is a line of the form `path: reason`. The map
    is checked for consistency (form, IDs, children inside their parents, titles). If its source file is available,
    the map is also checked against that file: CiteKit counts the pages, lines, seconds, chapters, or sheets again
    and ignores the counts in the map.

    --fix makes only changes that cannot make a citation point to different content. An end beyond the end of the
    file moves back to the end of the file. A child that begins inside its parent but extends beyond it is shortened to
    end where the parent ends. Wrong counts are corrected, control characters are removed from titles, and empty titles
    are replaced. No start is moved and no node is deleted. Every change is reported with its path and the values before
    and after. All other errors are reported but not changed. The exit code is 0 only if no errors remain.
    """
    from citekit.wire.locations import BoxOrder

    if (output is not None or force) and not fix:
        raise click.UsageError("--output and --force require --fix. Without it, nothing is written.")
    if fix and bbox != "xyxy":
        raise click.UsageError(
            "--fix works only with --bbox xyxy. It cannot repair boxes that are given as a corner and a size."
        )
    checked = _checked(session, file, BoxOrder(bbox))
    if fix and checked.data is not None:
        checked = _repaired(session, checked, output, force)
    if checked.faults:
        raise _unsound(session, checked, is_fixable=bbox == "xyxy", was_fixed=fix)
    session.answer(checked.to_plain(), _lines(checked))


@frozen(kw_only=True)
class _Checked:
    """A map file and the result of validating it.

    `edits` are the changes that `--fix` made or would make.
    """

    name: str
    path: Path
    data: Any = None
    report: MapReport | None = None
    faults: Sequence[str] = ()
    warnings: Sequence[str] = ()
    edits: Sequence[Edit] = ()
    mended: Any = None
    is_fixed: bool = False
    written: Path | None = None
    backup: Path | None = None

    def to_plain(self) -> dict[str, object]:
        """Return the data of the JSON document that `--json` prints."""
        told: dict[str, object] = {"file": self.name, "sound": not self.faults}
        if self.report is not None:
            head = self.report.resource_map
            told |= {"resource_id": head.resource_id, "type": head.modality.value, "nodes": self.report.nodes}
            told["measured"] = self.report.measured
        told |= {"faults": list(self.faults), "warnings": list(self.warnings)}
        told["changes" if self.is_fixed else "fixable"] = [edit.to_plain() for edit in self.edits]
        places = {"written": self.written, "backup": self.backup} if self.is_fixed else {}
        return told | {name: None if path is None else str(path) for name, path in places.items()}


def _checked(session: Session, name: str, order: BoxOrder) -> _Checked:
    from citekit.domain.errors import FaultyAnswer, SourceUnreadable
    from citekit.wire.maps import plain_from_json

    path = _file_of(session, name)
    if not os.path.lexists(path):
        raise SourceUnreadable(_nothing_named(session, name))
    try:
        data = plain_from_json(read_map_file(path), name)
        return _examined(session, _Checked(name=name, path=path, data=data), order)
    except FaultyAnswer as wrong:
        return _Checked(name=name, path=path, faults=wrong.faults)


def _examined(session: Session, asked: _Checked, order: BoxOrder) -> _Checked:
    """Validate the data of a map file. Raise `FaultyAnswer` if it is not a map."""
    from citekit.domain.errors import FaultyAnswer
    from citekit.wire.lenient_maps import read_leniently
    from citekit.wire.map_edits import edited
    from citekit.wire.maps import from_plain_map

    loose = read_leniently(asked.data, asked.name, order)
    report = session.app.check_map(loose.head, loose.nodes)
    faults = [*loose.faults, *report.faults]
    if not loose.faults:
        try:
            from_plain_map(asked.data, asked.name, order)
        except FaultyAnswer as wrong:
            faults += wrong.faults
    wanted = [(each.path, each.before, each.after, each.reason) for each in report.changes]
    mended, edits = edited(asked.data, wanted)
    warnings = [*loose.warnings, *report.warnings]
    return evolve(asked, report=report, faults=faults, warnings=warnings, edits=edits, mended=mended)


def _repaired(session: Session, found: _Checked, output: str | None, force: bool) -> _Checked:
    """Validate and write the repaired map, and return the result. Without `output`, a file with repairs is replaced."""
    from citekit.entrypoints.cli.output_files import replace_map, write_map
    from citekit.wire.locations import BoxOrder

    after = found if not found.edits else _examined(session, evolve(found, data=found.mended), BoxOrder.CORNERS)
    written = backup = None
    if output is not None:
        written = write_map(found.mended, output, found.path, force=force)
    elif found.edits:
        written, backup = replace_map(found.mended, found.path)
    return evolve(after, edits=found.edits, is_fixed=True, written=written, backup=backup)


def _file_of(session: Session, name: str) -> Path:
    """Return the path of the file `name`, or else of the stored map with that ID, or else the path `name`."""
    from citekit.domain.errors import CiteKitError
    from citekit.domain.ids import check_resource_id, stored_name

    path = Path(name)
    if path.exists():
        return path
    try:
        check_resource_id(name)
    except CiteKitError:
        return path
    folder = session.app.settings.maps_folder
    stored = [folder / f"{each}.json" for each in (stored_name(name), name)]
    return next((each for each in stored if each.is_file()), path)


def _nothing_named(session: Session, name: str) -> str:
    from shlex import quote

    if name in session.app.maps.ids():  # in a shared store
        return (
            f"Only files of maps can be validated, and the map of '{name}' is in the shared store. Export it first, and "
            f"validate the file: citekit export {quote(name)} --as json -o map.json"
            f"{session.home_words()}"
        )
    return f"There is no file {name}, and no resource has this ID. {session.home_hint()}"


def read_map_file(path: Path) -> str:
    """Return the text of a map file.

    Raise `SourceUnreadable` if it is not a regular, readable file, or `FaultyAnswer` if it is too large or not UTF-8.
    """
    from citekit.domain.errors import FaultyAnswer, SourceUnreadable
    from citekit.entrypoints.cli.formatting import size
    from citekit.wire.maps import SIZE_LIMIT

    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceUnreadable(f"{path} is not a regular file. Give the JSON file of a map.")
        if status.st_size > SIZE_LIMIT:
            raise FaultyAnswer(str(path), [f"$: the file is larger than the limit of {size(SIZE_LIMIT)}"])
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise FaultyAnswer(str(path), [f"$: the file is not valid UTF-8 at byte {wrong.start}"]) from wrong
    except OSError as wrong:
        raise SourceUnreadable(f"Cannot read {path}: {wrong.strerror or wrong}.") from wrong


def _unsound(session: Session, checked: _Checked, *, is_fixable: bool, was_fixed: bool) -> Exception:
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.errors import CommandError

    session.say(_changes(checked))
    session.say(_first("fault", [printable(fault) for fault in checked.faults[:MOST]], len(checked.faults)))
    session.say(_warnings(checked))
    left = " left" if checked.is_fixed and checked.edits else ""
    can_fix = is_fixable and not checked.is_fixed and checked.edits
    hint = f" (--fix can repair {counted(len(checked.edits), 'value')})" if can_fix else ""
    message = f"{checked.name} has {counted(len(checked.faults), 'fault')}{left}{hint}: {checked.faults[0]}"
    if was_fixed:
        message = f"{message.rstrip('.')}. {_remedy(session, checked)}"
    return CommandError("MapFaulty", message, checked.to_plain())


def _remedy(session: Session, checked: _Checked) -> str:
    """Return what to do about faults that `--fix` does not repair."""
    from shlex import quote
    from urllib.parse import unquote

    from citekit.application.recorded_paths import written_places
    from citekit.domain.ports.remote_files import is_remote
    from citekit.domain.resource_map import IMPORTED_FROM

    them = "it" if len(checked.faults) == 1 else "them"
    if checked.path.absolute().parent != session.app.settings.maps_folder.absolute():
        return f"--fix cannot repair {them}. Correct the file by hand."
    here = f"--id {quote(unquote(checked.path.stem))} --force{session.home_words()}"
    head = None if checked.report is None else checked.report.resource_map
    data = None if head is None else head.metadata.get(IMPORTED_FROM)
    if head is not None and isinstance(data, str):
        adapter = "" if head.mapper is None else head.mapper.name.removeprefix("adapt:")
        adapter = adapter if adapter in ("graphrag", "llamaindex", "generic") else "FILE.py"
        of_file = f"--source {quote(head.source_path)} " if head.source_path else ""
        return (
            f"--fix cannot repair {them}. Correct the data, and import it again: citekit import {quote(data)} "
            f"--adapter {adapter} {of_file}{here}"
        )
    written = "" if head is None else head.source_path
    places = (written,) if is_remote(written) else written_places(written, str(session.app.settings.home))
    source = next((quote(place) for place in places if is_remote(place) or Path(place).is_file()), "FILE")
    return f"--fix cannot repair {them}. To map the source again, run: citekit ingest {source} {here}"


def _lines(checked: _Checked) -> Iterator[str]:
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable

    yield from _changes(checked)
    if checked.report is not None:
        found = checked.report.resource_map
        yield f"Valid: '{printable(found.resource_id)}', {found.modality}, {counted(checked.report.nodes, 'node')}."
    yield from _warnings(checked)


def _changes(checked: _Checked) -> Iterator[str]:
    from citekit.domain.unicode_controls import printable

    for edit in checked.edits if checked.is_fixed else ():
        yield f"(fixed) {printable(edit.path)}: {_shown(edit.before)} -> {_shown(edit.after)} ({edit.reason})"
    if checked.written is not None:
        kept = "" if checked.backup is None else f"; original saved as {printable(str(checked.backup))}"
        yield f"Written to {printable(str(checked.written))}{kept}"


def _warnings(checked: _Checked) -> Iterator[str]:
    from citekit.domain.unicode_controls import printable

    shown = [f"(warning) {printable(warning)}" for warning in checked.warnings[:MOST]]
    yield from _first("warning", shown, len(checked.warnings))


def _first(what: str, shown: Sequence[str], count: int) -> Iterator[str]:
    """Yield the lines in `shown` and, if `count` is greater, a line about the others. `what` is the noun for the lines."""
    from citekit.domain.phrases import counted

    yield from shown
    if count > len(shown):
        yield f"... and {counted(count - len(shown), f'more {what}')}. To see all of them, use --json."


def _shown(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 200 else f"{text[:200]}..."
