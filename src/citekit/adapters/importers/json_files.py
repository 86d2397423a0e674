"""Reads JSON that other programs write, and also accepts JSON Lines, NaN, and infinities."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from citekit.adapters.system.files import unreadable
from citekit.domain.errors import FaultyAnswer, SourceUnreadable

SIZE_LIMIT = 256 * 1024 * 1024
"""The maximum size in bytes of a file."""


def read_json(path: Path) -> Any:
    """Return the data in the JSON file at `path`; for JSON Lines, return a list. NaN and infinities become None.

    Raise `SourceUnreadable` if the file cannot be read, or `FaultyAnswer` if it is too large, not valid UTF-8, or
    cannot be parsed.
    """
    text = read_text(path)
    try:
        return json.loads(text, parse_constant=_as_null)
    except json.JSONDecodeError as wrong:
        rows = _lines(text) if wrong.msg == "Extra data" else None
        if rows is not None:
            return rows
        forms = "neither valid JSON nor valid JSON Lines" if wrong.msg == "Extra data" else "not valid JSON"
        reason = f"$: the file is {forms}: {wrong.msg} at line {wrong.lineno}, column {wrong.colno}"
        raise FaultyAnswer(str(path), [reason]) from wrong
    except RecursionError as wrong:
        raise FaultyAnswer(str(path), ["$: the JSON is nested too deeply"]) from wrong
    except ValueError as wrong:
        raise FaultyAnswer(str(path), ["$: the JSON contains a number with too many digits"]) from wrong


def in_folder(folder: Path, path: Path) -> Path:
    """Return `path`. Raise `SourceUnreadable` if it is a link to a file outside `folder`."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SourceUnreadable(
            f"Cannot read {path}: it is a link to a file outside {folder}. Replace the link with the file."
        )
    return path


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file without its byte-order mark.

    Raise `SourceUnreadable` if the file cannot be read, or `FaultyAnswer` if it is too large or not valid UTF-8.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceUnreadable(f"Cannot read {path}: it is not a regular file.")
        if status.st_size > SIZE_LIMIT:
            raise FaultyAnswer(str(path), [f"$: the file is larger than the limit of {SIZE_LIMIT >> 20} MB"])
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise FaultyAnswer(str(path), [f"$: the file is not valid UTF-8 at byte {wrong.start}"]) from wrong
    except OSError as wrong:
        raise unreadable(wrong, path) from wrong


def _lines(text: str) -> list[Any] | None:
    try:
        return [json.loads(line, parse_constant=_as_null) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None


def _as_null(_: str) -> None:
    return None
