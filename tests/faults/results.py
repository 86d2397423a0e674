"""What a run of the harness found, kept as JSON: for its table, and for going on after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from attrs import asdict, field, frozen

from tests.faults.table import Row


@frozen
class Part:
    """The rows of one process, the seconds that it took, and its seconds of processor time (children included)."""

    rows: list[Row]
    seconds: float
    processor: float


@frozen
class Results:
    """The rows of a run, the seconds of its parts and of their processor time added up, and the scale `inputs`."""

    rows: list[Row]
    seconds: float
    processor: float
    inputs: int
    day: str = field(factory=lambda: datetime.now(UTC).date().isoformat())
    processors: int = field(factory=lambda: os.cpu_count() or 1)


def save(found: Part | Results, path: Path) -> None:
    """Write it in one step: a file that is there is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".tmp")
    half.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    half.replace(path)


def load_part(path: Path) -> Part:
    """The part that `save` wrote."""
    plain = json.loads(path.read_bytes())
    return Part(**{**plain, "rows": [Row(**each) for each in plain["rows"]]})


def load_results(path: Path) -> Results:
    """The results that `save` wrote. Raises `FileNotFoundError` if there was no whole run."""
    plain = json.loads(path.read_bytes())
    return Results(**{**plain, "rows": [Row(**each) for each in plain["rows"]]})


def fingerprint(root: Path, scale: Sequence[object]) -> str:
    """A name for the code under `root` and the scale of a run: rows found under another name do not count."""
    found = hashlib.sha256(repr(scale).encode())
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            found.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def page_table(found: Results) -> str:
    """The results as Markdown: a line for each area and kind of fault, and what did not end as promised."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row in found.rows:
        count = counts.setdefault((row.area, _kind(row)), [0, 0, 0])
        for at, number in enumerate((1, row.tried, row.survived)):
            count[at] += number
    lines = [
        f"{date.fromisoformat(found.day):%Y-%m-%d}, {found.processors} processors, one tree:"
        f" {found.processor / 60:.0f} minutes of processor time.",
        "",
        "| area | what was done | kinds | tried | as promised |",
        "| --- | --- | --: | --: | --: |",
        *(f"| {area} | {kind} | {a} | {b:,} | {c:,} |" for (area, kind), (a, b, c) in counts.items()),
        "",
    ]
    broken = [row for row in found.rows if not row.kept]
    if not broken:
        return "\n".join([*lines, "Everything ended as promised."])
    lines += ["Not as promised:", ""]
    return "\n".join(
        lines + [f"- {row.area}, {row.what}: {row.survived:,} of {row.tried:,}. {row.note}" for row in broken]
    )


def _kind(row: Row) -> str:
    """What rows of the same sort share: operations, files and parsers are counted, not named."""
    if row.area == "kills" and row.note.endswith(" steps"):
        return "killed before a step, or in the middle of a write, of an operation"
    if row.area == "power":
        return row.note
    return row.what.partition(":")[0]
