"""Implements the command `citekit verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import click

from citekit.application.verify import Check, Ruling, Verdict
from citekit.domain.errors import FaultyAnswer, SourceUnreadable
from citekit.domain.evidence import Receipt
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.wire import receipts
from citekit.wire.receipt_documents import read_answer, read_document

RECEIPT_LIMIT = 10_000_000
"""The maximum size in bytes of a receipt."""

RECEIPT_ONLY = 3
"""The exit code if the receipt is valid but no file was checked."""

_NO_RECEIPT = (
    "$: this is not a receipt; give a receipt as it was stored, or the output of citekit resolve --json, in UTF-8"
)
_MARKS = {True: ("yes", "green"), False: ("NO", "red"), None: ("?", "yellow")}


@click.command("verify", cls=Command)
@click.argument("receipt_or_file", metavar="RECEIPT_OR_FILE")
@roots_option()
@click.option("--receipt", "given", metavar="FILE", help="A file with the receipt of RECEIPT_OR_FILE.")
@password_option("a source PDF")
@pass_session
def command(
    session: Session, receipt_or_file: str, roots: tuple[str, ...], given: str | None, password: str | None
) -> None:
    """Check that evidence is really the part of the source that its receipt states.

    Give a file that CiteKit created (at any path), a file with its receipt (--receipt), or a receipt alone. CiteKit
    extracts the part from the source again and compares the bytes. The exit code is 0 only if the bytes are the same.

    A file whose name or bytes match evidence in the cache is treated as evidence, even if it looks like a receipt. Any
    other file is treated as a receipt only if it contains exactly one receipt and nothing else. --receipt also accepts
    the output of `resolve --json`. A receipt alone cannot prove a file, so its exit code is 3 at best.

    \b
    The verdict is one word (with --json: `verdict`, and all that apply in `verdicts`):
      genuine          the bytes are the same, and the receipt is correct
    refuted:
      receipt-edited   the receipt contradicts itself, or contains wrong values
      other-receipt    the file is different evidence, with its own receipt
      cache-edited     the copy in the cache was changed (to delete it, run: citekit cache verify)
      evidence-edited  the bytes of the file do not match the receipt
      other-content    that part of the source has other content or does not exist
      other-source     the resource ID in the receipt belongs to a different file here
    open:
      source-changed   the source file has changed or cannot be read
      source-missing   there is no source file at its path
      other-extractor  the extractor, or its version, is not available here
      not-cut          the part cannot be extracted now (for example, a password is missing)
      map-unreadable   the map of the resource in the receipt cannot be read
      file-changed     the file changed while it was being checked
      receipt-only     the receipt is valid, but no file was checked (exit code 3)
    """
    path = Path(receipt_or_file)
    folders = [Path(root) for root in roots]
    use_case = session.app_with(password=password).verify
    if given is not None:
        receipt, address = _given(Path(given))
        verdict = use_case.file(path, folders, receipt=receipt, address=address)
    elif (found := None if use_case.knows(path) else _receipt(path)) is not None:
        verdict = use_case.receipt(found[0], folders, address=found[1])
    else:
        verdict = use_case.file(path, folders)
    plain = _plain(verdict)
    if verdict.genuine:
        session.answer(plain, _lines(verdict))
        return
    session.say(_lines(verdict))
    raise _failed(session, receipt_or_file, verdict, plain)


def _given(path: Path) -> tuple[Receipt, str]:
    """Return the receipt and its address from the file that `--receipt` names.

    Raise `SourceUnreadable` if there is no file, `OSError` if it cannot be read, or `FaultyAnswer` if it has no valid
    receipt.
    """
    if not path.is_file():
        raise SourceUnreadable(f"There is no file at {path}, so there is no receipt to read.")
    data = _content(path)
    found = read_document(data, str(path)) or read_answer(data, str(path))
    if found is None:
        raise FaultyAnswer(str(path), [_NO_RECEIPT])
    return found


def _receipt(path: Path) -> tuple[Receipt, str] | None:
    """Return the receipt and its address if the file is exactly one receipt; otherwise None. Raise `FaultyAnswer` if it
    is malformed.
    """
    try:
        return read_document(_content(path), str(path)) if path.is_file() else None
    except OSError:
        return None


def _content(path: Path) -> bytes:
    """Return the bytes of the file, or no bytes if it has more than `RECEIPT_LIMIT`. Raise `OSError` if it cannot be
    read.
    """
    with path.open("rb") as file:
        data = file.read(RECEIPT_LIMIT + 1)
    return data if len(data) <= RECEIPT_LIMIT else b""


def _plain(verdict: Verdict) -> dict[str, object]:
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


def _plain_check(check: Check) -> dict[str, object]:
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
        yield f"  cannot be proven: {', '.join(verdict.UNPROVEN)}"
    for check in verdict.checks:
        word, color = _MARKS[check.passed]
        yield f"  {styled(word.ljust(3), fg=color)}  {check.name}: {printable(check.detail)}"


def _failed(session: Session, name: str, verdict: Verdict, plain: dict[str, object]) -> CommandError:
    failed = (check for check in verdict.checks if check.passed is (False if verdict.refuted else None))
    reasons = "; ".join(check.detail.rstrip(".") for check in failed)
    if {check.ruling for check in verdict.checks if check.passed is False} == {Ruling.CACHE_EDITED}:
        message = (
            f"This home's cached copy of the evidence was modified ({verdict.ruling}). Delete it with the following command, "
            f"then verify {name} again: citekit cache verify{session.home_words()}"
        )
        return CommandError("Refuted", message, plain)
    if verdict.refuted:
        return CommandError("Refuted", f"{name} is not genuine ({verdict.ruling}): {reasons}.", plain)
    if verdict.ruling is Ruling.RECEIPT_ONLY:
        message = (
            f"The receipt {name} is valid ({verdict.ruling}), but {reasons}. To check a file, too, run: citekit verify FILE "
            f"--receipt {quote(name)}{session.home_words()}"
        )
        return CommandError("ReceiptOnly", message, plain, RECEIPT_ONLY)
    return CommandError(
        "Undecided", f"Cannot determine whether {name} is genuine ({verdict.ruling}): {reasons}.", plain
    )
