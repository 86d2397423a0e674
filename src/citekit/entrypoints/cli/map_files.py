"""Writes map files that somebody named, in one step, keeping what was there."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.domain.errors import HomeUnwritable, RequestRefused
from citekit.entrypoints.cli.replacing import replacing

_BACKUPS = 1000


def write_map(data: Mapping[str, Any], wanted: str, original: Path, *, force: bool) -> Path:
    """Write a map as the file `wanted`, which is never the `original`. Raises `RequestRefused`, `HomeUnwritable`."""
    from citekit.entrypoints.cli.copying import copy_evidence

    with tempfile.TemporaryDirectory(prefix="citekit-map-") as folder:
        path = Path(folder) / original.name
        path.write_bytes(_written(data))
        return copy_evidence(path, wanted, original, force=force)


def replace_map(data: Mapping[str, Any], original: Path) -> tuple[Path, Path]:
    """Put a map in the place of the file `original`; (that file, a copy of what it was). A link is followed.

    The copy is there before anything changes, under a name that nothing had. Raises `RequestRefused` where there are too
    many copies, `HomeUnwritable`.
    """
    place = Path(os.path.realpath(original))
    try:
        backup = _kept(place)
        with replacing(place, stat.S_IMODE(place.stat().st_mode)) as file:
            file.write(_written(data))
    except OSError as error:
        raise HomeUnwritable(f"Cannot write {place}: {error.strerror or error}. The map is as it was.") from error
    return place, backup


def _kept(place: Path) -> Path:
    """A copy of a file beside it, durable, under the first free name."""
    for number in range(1, _BACKUPS):
        backup = place.with_name(f"{place.name}.bak{number if number > 1 else ''}")
        try:
            with place.open("rb") as source, backup.open("xb") as copy:
                shutil.copyfileobj(source, copy)
                copy.flush()
                os.fsync(copy.fileno())
        except FileExistsError:
            continue
        shutil.copystat(place, backup)
        return backup
    raise RequestRefused(f"There are too many copies of {place} ({backup.name}): remove some.")


def _written(data: Mapping[str, Any]) -> bytes:
    from citekit.wire.indented import indented

    try:
        return (indented(data) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only hold as an escape
        return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode()
