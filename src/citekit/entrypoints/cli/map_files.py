"""Writes map files that somebody named, in one step, keeping what was there."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.bootstrap.home_paths import check_map_path
from citekit.domain.errors import HomeUnwritable, RequestRefused
from citekit.entrypoints.cli.replacing import keeping, replacing, sweep

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
    many copies, `HomeUnwritable`, and `HomeUnsafe` for a link that leads out of a home.
    """
    check_map_path(original)
    place = Path(os.path.realpath(original))
    try:
        sweep(place.parent)
        backup = _kept(place)
        with replacing(place, stat.S_IMODE(place.stat().st_mode)) as file:
            file.write(_written(data))
    except OSError as error:
        raise HomeUnwritable(f"Cannot write {place}: {error.strerror or error}. The map is as it was.") from error
    return place, backup


def _kept(place: Path) -> Path:
    """A copy of a file beside it, durable, under the first free name."""
    names = (place.with_name(f"{place.name}.bak{number if number > 1 else ''}") for number in range(1, _BACKUPS))
    backup = keeping(place, names)
    if backup is None:
        raise RequestRefused(f"There are too many copies of {place} ({place.name}.bak{_BACKUPS - 1}): remove some.")
    return backup


def _written(data: Mapping[str, Any]) -> bytes:
    from citekit.wire.indented import indented

    try:
        return (indented(data) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only hold as an escape
        return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode()
