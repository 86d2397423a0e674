"""`citekit check-map`."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.application.check_map import MapReport


@click.command("check-map", cls=Command)
@click.argument("file")
@click.option(
    "--bbox",
    type=click.Choice(["xyxy", "xywh"]),
    default="xyxy",
    show_default=True,
    help="What the four numbers of a box mean: its corners, or a corner and its size.",
)
@pass_session
def command(session: Session, file: str, bbox: str) -> None:
    """Say everything that is wrong with a map file.

    Each fault is a line `path: reason`. A map is held against itself (form, ids, children inside parents) and against
    its source, where that is there.
    """
    from citekit.domain.errors import FaultyAnswer
    from citekit.wire.locations import BoxOrder
    from citekit.wire.maps import from_json

    try:
        report = session.app.check_map(from_json(read_map_file(Path(file)), file, BoxOrder(bbox)))
    except FaultyAnswer as wrong:
        plain = {"file": file, "sound": False, "faults": list(wrong.faults), "warnings": []}
        raise _unsound(session, plain) from wrong
    plain = _plain(file, report)
    if report.faults:
        raise _unsound(session, plain)
    session.answer(plain, _lines(report))


def read_map_file(path: Path) -> str:
    """The text of a map file. Raises `SourceUnreadable`, `FaultyAnswer` where it is enormous or no UTF-8."""
    from citekit.domain.errors import FaultyAnswer, SourceUnreadable
    from citekit.entrypoints.cli.wording import size
    from citekit.wire.maps import SIZE_LIMIT

    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceUnreadable(f"{path} is not a file: name the JSON file of a map.")
        if status.st_size > SIZE_LIMIT:
            raise FaultyAnswer(str(path), [f"$: larger than {size(SIZE_LIMIT)}"])
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise FaultyAnswer(str(path), [f"$: not UTF-8: byte {wrong.start}"]) from wrong
    except OSError as wrong:
        raise SourceUnreadable(f"Cannot read {path}: {wrong.strerror or wrong}.") from wrong


def _unsound(session: Session, plain: dict[str, Any]) -> Exception:
    from citekit.entrypoints.cli.failing import CommandError
    from citekit.entrypoints.cli.printable import printable
    from citekit.entrypoints.cli.wording import counted

    faults, warnings = plain["faults"], plain["warnings"]
    session.say(printable(line) for line in (*faults, *(f"(warning) {warning}" for warning in warnings)))
    return CommandError("MapFaulty", f"{plain['file']} has {counted(len(faults), 'fault')}: {faults[0]}", plain)


def _plain(file: str, report: MapReport) -> dict[str, Any]:
    return {
        "file": file,
        "sound": not report.faults,
        "resource_id": report.resource_map.resource_id,
        "type": report.resource_map.modality.value,
        "nodes": report.resource_map.node_count,
        "faults": list(report.faults),
        "warnings": list(report.warnings),
    }


def _lines(report: MapReport) -> Iterator[str]:
    from citekit.entrypoints.cli.printable import printable
    from citekit.entrypoints.cli.wording import counted

    found = report.resource_map
    yield f"Sound: '{printable(found.resource_id)}', {found.modality}, {counted(found.node_count, 'node')}."
    for warning in report.warnings:
        yield f"(warning) {printable(warning)}"
