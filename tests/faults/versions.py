"""This version and older ones on one home, in turns and at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from citekit import CiteKit
from tests.faults.crowd import AREA, ROOT
from tests.faults.table import Row
from tests.faults.truth import Known, text, wrong_with

REVISIONS = {
    "59a49ef": "the first index of a version",
    "a04adba": "the last index of diskcache",
    "7fca0b1": "the first index of this form",
    "f4709fc": "before parsers in processes of their own",
}
"""Revisions of this repository that others may still have, by the names of their commits."""

DRIVER = """
import sys, time
from pathlib import Path
from citekit import CiteKit
home, turns, until = Path(sys.argv[1]), int(sys.argv[2]), time.time() + float(sys.argv[3])
kit = CiteKit(home)
for path in sorted((home / "sources").glob("*.txt")):
    kit.ingest(path, resource_id=path.stem)
while turns > 0 or time.time() < until:
    turns -= 1
    for path in sorted((home / "sources").glob("*.txt")):
        for first in (4, 5, 6):
            lines = path.read_text().splitlines(keepends=True)[first - 1 : first + 3]
            given = kit.resolve(f"text://{path.stem}#lines={first}-{first + 3}")
            assert given.output_path.read_text() == "".join(lines), given
            assert kit.verify(given.output_path).genuine, given
    assert kit.app.evidence.verify().healed == [], "an object was damaged"
"""
"""What every version can: map, cut, prove."""


def unpacked(revision: str, folder: Path) -> Path | None:
    """The sources of a revision; None where its history is not here."""
    archive = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return None
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def together(home: Path, old: Path, seconds: float) -> Iterator[str]:
    """What is wrong after both worked in turns, and then at once. Raise `ImportError` if the old one lacks a library."""
    known = (text("letters"), text("notes"))
    for each in known:
        each.write(home / "sources")
    for source in (old, None, old, None):
        faults = [*_said(_started(home, source, 1, 0.0))]
        if source and faults and faults[0].startswith("ModuleNotFoundError: "):
            raise ImportError(faults[0].removeprefix("ModuleNotFoundError: "))
        yield from faults or _right(home, known)
    started = [_started(home, source, 2, seconds) for source in (old, None, old, None)]
    for process in started:
        yield from _said(process)
    yield from _right(home, known)


def written_by_02(home: Path) -> Iterator[str]:
    """What is wrong with a home whose map citekit 0.2 wrote: relative, without a digest of this form, nulls left in."""
    import json

    known = text("letters")
    path = known.write(home)
    place = {"modality": "text", "start": None, "end": None, "pages": None, "lines": [1, 9], "bbox": None}
    node = {"id": "first", "title": "First", "type": "section", "location": place, "context": "As 0.2 had it."}
    written = {
        "resource_id": known.name,
        "type": "text",
        "source_path": path.name,
        "metadata": {"title": "Letters"},
        "nodes": [{**node, "children": []}],
        "created_at": "2025-01-05T10:00:00",
    }
    file = home / ".resource_maps" / f"{known.name}.json"
    file.parent.mkdir()
    file.write_text(json.dumps(written), encoding="utf-8")
    before, kit = file.read_bytes(), CiteKit(home)
    given = kit.resolve(known.name, "first")
    if given.output_path is None or given.output_path.read_text() != "".join(map(known.line, range(1, 10))):
        yield "the part is another one"
    yield from wrong_with(kit.resolve(known.part(3)), known, known.part(3), path)
    if file.read_bytes() != before:
        yield "the old map was rewritten unasked"


def _started(home: Path, source: Path | None, turns: int, seconds: float) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(source or ROOT / "src"), "CITEKIT_MAPPER": "local"}
    command = [sys.executable, "-c", DRIVER, str(home), str(turns), str(seconds)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _said(process: subprocess.Popen[str]) -> Iterator[str]:
    said, _ = process.communicate(timeout=120)
    if process.returncode:
        yield said.strip().splitlines()[-1][:300]


def _right(home: Path, known: Sequence[Known]) -> Iterator[str]:
    kit = CiteKit(home)
    for each in known:
        yield from wrong_with(kit.resolve(each.part(3)), each, each.part(3), home / "sources" / each.file)


def rows(seconds: float) -> Sequence[Row]:
    """Every revision that is here, and the form of 0.2."""
    found, missing = list[tuple[str, list[str]]](), list[str]()
    for revision, what in REVISIONS.items():
        with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
            old = unpacked(revision, Path(folder) / "old")
            if old is None:
                missing.append(revision)
                continue
            began = time.monotonic()
            try:
                faults = list(together(Path(folder) / "home", old, seconds))
            except ImportError as error:  # a library that only the old version needs
                missing.append(f"{revision} ({error})")
                continue
            found.append((f"{what} ({time.monotonic() - began:.0f} s)", faults))
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
        found.append(("a home of 0.2", list(written_by_02(Path(folder)))))
    wrong = [f"{what}: {faults[0]}" for what, faults in found if faults]
    wrong += [f"not tried: {', '.join(missing)}"] if missing else []
    survived = sum(not faults for _, faults in found)
    return [Row(AREA, "two versions on one home, in turns and at once", len(found), survived, " / ".join(wrong))]
