"""`citekit verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from citekit.application.verify import Verdict
from citekit.domain.evidence import Receipt
from citekit.entrypoints.cli.command import FOLDER, Command
from citekit.entrypoints.cli.failing import CommandError
from citekit.entrypoints.cli.printable import printable
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.wire import receipts

RECEIPT_LIMIT = 10_000_000
"""Bytes of the largest file that is looked at as a receipt."""

_MARKS = {True: ("yes", "green"), False: ("NO", "red"), None: ("?", "yellow")}


@click.command("verify", cls=Command)
@click.argument("receipt_or_file", metavar="RECEIPT_OR_FILE")
@click.option(
    "--root", "roots", multiple=True, type=FOLDER, metavar="DIR", help="Look here for a moved source; repeatable."
)
@pass_session
def command(session: Session, receipt_or_file: str, roots: tuple[str, ...]) -> None:
    """Tell whether evidence really is that part of that source.

    Give a file that was cut out here (wherever it lies now), or a receipt as JSON: alone, or as `resolve --json` prints
    it. The part is cut out of the source once more, and must have the same bytes. Exit code 0 only if all of that holds.
    """
    path = Path(receipt_or_file)
    folders = [Path(root) for root in roots]
    receipt = _receipt(path)
    use_case = session.app.verify
    verdict = use_case.file(path, folders) if receipt is None else use_case.receipt(receipt, folders)
    plain = _plain(verdict)
    if verdict.genuine:
        session.answer(plain, _lines(verdict))
        return
    session.say(_lines(verdict))
    raise _failed(receipt_or_file, verdict, plain)


def _receipt(path: Path) -> Receipt | None:
    """The receipt in the file at `path`, or None where it holds something else. Raises `FaultyAnswer`."""
    try:
        if not path.is_file() or path.stat().st_size > RECEIPT_LIMIT:
            return None
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(data, dict) and isinstance(data.get("receipt"), dict):
        data = data["receipt"]
    if not isinstance(data, dict) or "receipt_version" not in data:
        return None
    return receipts.from_plain(data, str(path))


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "genuine": verdict.genuine,
        "refuted": verdict.refuted,
        "unproven": list(verdict.UNPROVEN),
        "address": str(verdict.receipt.address),
        "checks": [{"name": each.name, "passed": each.passed, "detail": each.detail} for each in verdict.checks],
        "receipt": receipts.to_plain(verdict.receipt),
    }


def _lines(verdict: Verdict) -> Iterator[str]:
    if verdict.genuine:
        receipt = verdict.receipt
        yield f"Genuine: {printable(str(receipt.address))} of {printable(receipt.source_path)}"
        yield f"  not proven, because nothing can: {', '.join(verdict.UNPROVEN)}"
    for check in verdict.checks:
        word, colour = _MARKS[check.passed]
        yield f"  {click.style(word.ljust(3), fg=colour)}  {check.name}: {printable(check.detail)}"


def _failed(name: str, verdict: Verdict, plain: dict[str, Any]) -> CommandError:
    reasons = "; ".join(
        check.detail for check in verdict.checks if check.passed is (False if verdict.refuted else None)
    )
    if verdict.refuted:
        return CommandError("Refuted", f"{name} is not what its receipt says: {reasons}.", plain)
    return CommandError("Undecided", f"Whether {name} is genuine cannot be told: {reasons}.", plain)
