"""Copies evidence to where somebody wants it."""

from __future__ import annotations

import filecmp
import os
import shutil
from io import BufferedReader
from pathlib import Path

from citekit.domain.errors import HomeUnwritable, RequestRefused
from citekit.entrypoints.cli.replacing import replacing, sweep
from citekit.settings import expanded


def copy_evidence(evidence: Path, wanted: str, source: Path, *, force: bool) -> Path:
    """Copy the file `evidence` to the path `wanted`, or into that folder; return where it is now, absolute.

    A different file there is replaced only with `force`, in one step; the `source` never is. Raises `RequestRefused`
    and `HomeUnwritable`.
    """
    target = Path(os.path.abspath(expanded(wanted)))  # noqa: PTH100 - a link is replaced, not followed
    if target.is_dir():
        target /= evidence.name
    elif wanted.endswith(("/", os.sep)) or not target.parent.is_dir():
        raise RequestRefused(f"There is no folder {target if wanted.endswith('/') else target.parent}: make it first.")
    sweep(target.parent)
    if os.path.lexists(target):
        _check(target, evidence, source, force)
        if target.exists() and filecmp.cmp(evidence, target, shallow=False):
            return target
    _copy(evidence, target)
    return target


def _check(target: Path, evidence: Path, source: Path, force: bool) -> None:
    if target.exists() and not target.is_file():
        raise RequestRefused(f"{target} is not a file: choose another place.")
    if target.exists() and target.samefile(source):
        raise RequestRefused(f"{target} is the source itself, which is never written to: choose another place.")
    same = target.exists() and filecmp.cmp(evidence, target, shallow=False)
    if not same and not force:
        raise RequestRefused(f"{target} is another file: choose another place, or replace it with --force.")


def _copy(evidence: Path, target: Path) -> None:
    try:
        with evidence.open("rb") as opened, replacing(target, _mode(opened) & ~_umask()) as file:
            shutil.copyfileobj(opened, file)
    except OSError as error:
        raise HomeUnwritable(f"Cannot write {target}: {error.strerror or error}.") from error


def _mode(evidence: BufferedReader) -> int:
    """The permissions of a copy: whoever may read the evidence may read and write it, as the umask allows."""
    readable = os.fstat(evidence.fileno()).st_mode & 0o444
    return readable | readable >> 1


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
