"""`citekit verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from citekit.application.verify import Check, Ruling, Verdict
from citekit.domain.errors import FaultyAnswer, SourceUnreadable
from citekit.domain.evidence import Receipt
from citekit.entrypoints.cli.command import FOLDER, Command, password_option
from citekit.entrypoints.cli.failing import CommandError
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.invisible import printable
from citekit.wire import receipts

RECEIPT_LIMIT = 10_000_000
"""Bytes of the largest file that is looked at as a receipt."""

_MARKS = {True: ("yes", "green"), False: ("NO", "red"), None: ("?", "yellow")}


@click.command("verify", cls=Command)
@click.argument("receipt_or_file", metavar="RECEIPT_OR_FILE")
@click.option(
    "--root", "roots", multiple=True, type=FOLDER, metavar="DIR", help="Look here for a moved source; repeatable."
)
@click.option("--receipt", "given", metavar="FILE", help="The receipt that the file is said to belong to.")
@password_option("a source PDF")
@pass_session
def command(
    session: Session, receipt_or_file: str, roots: tuple[str, ...], given: str | None, password: str | None
) -> None:
    """Tell whether evidence really is that part of that source.

    Give a file that was cut out here (wherever it lies now), a file with its receipt (--receipt), or a receipt as JSON:
    alone, or as `resolve --json` prints it. The part is cut out of the source once more, and must have the same bytes.
    Exit code 0 only if all of that holds.

    \b
    The verdict is one word (with --json: `verdict`, and all that fit in `verdicts`):
      genuine          the same bytes again, and all that the receipt says of them
    refuted:
      receipt-edited   the receipt contradicts itself, or says what is not so
      other-receipt    the file is other evidence, of which another receipt speaks
      cache-edited     the object in the cache was changed ('citekit cache verify')
      evidence-edited  the bytes of the file are not those of the receipt
      other-content    that part of the source is something else, or is not there
    open:
      source-changed   the file at the source's place has other bytes
      source-missing   there is no file at the source's place
      other-extractor  it was cut by an extractor or a version that is not here
      not-cut          the part could not be cut here now, as without a driver or password
    """
    path = Path(receipt_or_file)
    folders = [Path(root) for root in roots]
    found = _receipt(path) if given is None else _given(Path(given))
    use_case = session.app_with(password=password).verify
    if given is None and found is not None:
        verdict = use_case.receipt(found[0], folders, address=found[1])
    else:
        receipt, address = found or (None, None)
        verdict = use_case.file(path, folders, receipt=receipt, address=address)
    plain = _plain(verdict)
    if verdict.genuine:
        session.answer(plain, _lines(verdict))
        return
    session.say(_lines(verdict))
    raise _failed(receipt_or_file, verdict, plain)


def _given(path: Path) -> tuple[Receipt, str | None]:
    """The receipt in a file that is said to hold one. Raises `SourceUnreadable`, `FaultyAnswer`."""
    found = _receipt(path)
    if found is not None:
        return found
    if not path.is_file():
        raise SourceUnreadable(f"There is no file at {path}, so it holds no receipt.")
    raise FaultyAnswer(str(path), ["$: no receipt: give one as JSON, alone or as resolve --json prints it"])


def _receipt(path: Path) -> tuple[Receipt, str | None] | None:
    """The receipt in the file at `path`, and the address that stands in it; None where it holds something else.

    Raises `FaultyAnswer`.
    """
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
    return receipts.claimed(data, str(path))


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.ruling.value,
        "verdicts": [ruling.value for ruling in verdict.rulings],
        "genuine": verdict.genuine,
        "refuted": verdict.refuted,
        "unproven": list(verdict.UNPROVEN),
        "address": str(verdict.receipt.address),
        "checks": [_plain_check(check) for check in verdict.checks],
        "receipt": receipts.to_plain(verdict.receipt),
    }


def _plain_check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "passed": check.passed,
        "detail": check.detail,
        "verdict": (Ruling.GENUINE if check.passed else check.ruling).value,
    }


def _lines(verdict: Verdict) -> Iterator[str]:
    if verdict.genuine:
        receipt = verdict.receipt
        yield f"Genuine: {printable(str(receipt.address))} of {printable(receipt.source_path)}"
        yield f"  not proven, because nothing can: {', '.join(verdict.UNPROVEN)}"
    for check in verdict.checks:
        word, colour = _MARKS[check.passed]
        yield f"  {styled(word.ljust(3), fg=colour)}  {check.name}: {printable(check.detail)}"


def _failed(name: str, verdict: Verdict, plain: dict[str, Any]) -> CommandError:
    reasons = "; ".join(
        check.detail.rstrip(".") for check in verdict.checks if check.passed is (False if verdict.refuted else None)
    )
    if verdict.refuted:
        return CommandError("Refuted", f"{name} is not what its receipt says ({verdict.ruling}): {reasons}.", plain)
    return CommandError("Undecided", f"Whether {name} is genuine cannot be told ({verdict.ruling}): {reasons}.", plain)
