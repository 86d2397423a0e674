"""Ingest: the local mapper per format and per MB, workers, the digest against the disk, and what did not change.

python -m benchmarks.ingesting [--quick]
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks import material
from benchmarks.homes import sentences
from benchmarks.material import CORPUS, Material
from benchmarks.measuring import Contestant, fewer, interleaved, ratio, timed
from benchmarks.places import BENCH, SAMPLES, once, scratch
from benchmarks.report import Report
from citekit import CiteKit
from citekit.domain.digest import Digest

ROUNDS = fewer(2, 1)
FEW, MANY = fewer((500, 10_000), (20, 300))
SETTLED = 2.2
REAL = (
    "book/alice-pg.epub",
    "image/hopper.png",
    "audio/lena.mp3",
    "text/big-python-pymupdf.py",
    "text/gensim-CHANGELOG.md",
)


def main() -> None:
    """The tables."""
    report = Report("ingesting", "Ingest")
    _formats(report)
    _digest(report)
    _unchanged(report)
    _workers(report)
    _folder(report)
    report.finish()


def _files() -> list[Material]:
    samples = [Material(path, made=False) for path in sorted(SAMPLES.iterdir()) if path.suffix != ".md"]
    real = [Material(CORPUS / name, made=False) for name in REAL if (CORPUS / name).is_file()]
    large = [
        material.pdf_900(),
        material.pdf_2400(),
        material.photo(),
        material.text_9(),
        material.book(),
    ]
    return [*samples, *real, *(large if not fewer(False, True) else [])]


def _formats(report: Report) -> None:
    table = report.table(
        "the local mapper, a new file each time", "file", "MB", "nodes", "ms", "ms a MB", "MB a second"
    )
    with scratch() as folder:
        number = itertools.count()
        for file in _files():
            found: list[int] = []

            def ingest(file: Material = file, found: list[int] = found) -> None:
                kit = CiteKit(folder / f"home{next(number)}")
                found.append(kit.ingest(file.path).node_count)

            megabytes = file.path.stat().st_size / 1e6
            each = interleaved({"ingest": ingest}, ROUNDS, seconds=1.5, warm=0, least=1)["ingest"]
            table.row(
                file.origin, megabytes, found[0], each.median, each.median / megabytes, 1000 * megabytes / each.median
            )
            report.fact(f"{file.path.name}: ms", each.median)
            report.fact(f"{file.path.name}: MB", megabytes)


def _digest(report: Report) -> None:
    """SHA-256 as we read it, beside reading alone and hashing alone; the file is in memory, so the disk is at its best."""
    path = material.film().path
    data = path.read_bytes()

    def read() -> None:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass

    def digest() -> None:
        with path.open("rb") as file:
            Digest.of_stream(file)

    spent = interleaved(
        {"reading alone": read, "hashing alone": lambda: hashlib.sha256(data), "ours": digest}, fewer(9, 2), seconds=5.0
    )
    table = report.table(
        f"the digest of {path.name}, {len(data) / 1e6:.0f} MB", "what", "ms", "MB a second", "ours to it"
    )
    for name, each in spent.items():
        table.row(name, each.median, len(data) / 1000 / each.median, ratio(spent["ours"], each))
    report.fact("digest to hashing alone", ratio(spent["ours"], spent["hashing alone"]))


def _unchanged(report: Report) -> None:
    """A file that was ingested before: whether it is the same is seen by its state."""
    table = report.table("a file that did not change", "file", "MB", "again, same process", "p95", "again, new process")
    with scratch() as folder:
        kit = CiteKit(folder)
        files = [Material(SAMPLES / "r-intro.pdf", made=False), *fewer([material.film()], [])]
        for file in files:
            kit.ingest(file.path)
        time.sleep(SETTLED)
        for file in files:
            each = interleaved({"again": partial(kit.ingest, file.path)}, fewer(100, 5), seconds=2.0, warm=2)["again"]
            new = interleaved({"new": partial(_program, folder, file.path)}, fewer(3, 1), seconds=2.0)["new"]
            table.row(file.origin, file.path.stat().st_size / 1e6, each.median, each.p95, new.median)
            report.fact(f"{file.path.name}: unchanged ms", each.median)


def _workers(report: Report) -> None:
    table = report.table(f"a folder of {FEW:,} small texts, by workers", "workers", "seconds", "ms a file")
    with scratch() as folder:
        texts = _texts(folder / "texts", FEW)
        for workers in (1, 2):
            seconds = timed(partial(_all, CiteKit(folder / f"home{workers}"), texts, workers))
            table.row(workers, seconds, 1000 * seconds / FEW)


def _folder(report: Report) -> None:
    """Many small files: for the first time, and then again. The folder is kept."""
    table = report.table(f"a folder of {MANY:,} small texts", "what", "seconds", "ms a file")
    folder = BENCH / "folders" / str(MANY)
    texts, home = folder / "texts", folder / "home"
    if not texts.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _texts(folder / "unfinished", MANY).rename(texts)
        time.sleep(SETTLED)
    first = once(folder / "ingested", lambda: timed(partial(_all, CiteKit(home), texts, 2)))
    table.row("first time, 2 workers, when the home was new", first, 1000 * first / MANY)
    kit = CiteKit(home)
    _all(kit, texts, 2)
    again: dict[str, Contestant] = {
        "same process": partial(_all, kit, texts, 2),
        "new home object": lambda: _all(CiteKit(home), texts, 2),
        "citekit ingest FOLDER": partial(_program, home, texts),
    }
    for name, run in again.items():
        seconds = interleaved({name: run}, fewer(3, 1), seconds=4.0, warm=0, least=1)[name].median / 1000
        table.row(f"all unchanged, {name}", seconds, 1000 * seconds / MANY)
        report.fact(f"all, unchanged, {name}: seconds", seconds)


def _all(kit: CiteKit, folder: Path, workers: int) -> None:
    outcomes = list(kit.app.ingest_many(sorted(folder.iterdir()), force=False, concurrency=workers))
    assert all(each.error is None for each in outcomes), next(each.error for each in outcomes if each.error)


def _program(home: Path, what: Path) -> object:
    command: list[str | Path] = [
        Path(sys.executable).with_name("citekit"),
        "--home",
        home,
        "ingest",
        what,
        "--mapper",
        "local",
    ]
    return subprocess.run(command, check=True, capture_output=True)


def _texts(folder: Path, count: int) -> Path:
    """So many small files in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    texts = sentences(12)
    for number in range(count):
        lines = "\n".join(texts[(number * 7 + n) % len(texts)] for n in range(20))
        (folder / f"note-{number:05}.txt").write_text(f"Note {number}\n\n{lines}\n", "utf-8")
    return folder


if __name__ == "__main__":
    main()
