"""A home with the maps of one task: ours, the peer's, and fresh ones for whatever is done for the first time."""

from __future__ import annotations

import json
import shutil
import time
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

from attrs import frozen

from benchmarks.tasks import Task
from citekit import CiteKit
from citekit.container import INDEX
from citekit.domain.evidence import Evidence

NODES = 200
ID = "source"

SETTLED = 2.2
"""Seconds after which the digest of a file is remembered: before, it might change again and keep its times."""


_SAMPLES = {
    ".pdf": "r-intro.pdf",
    ".mp4": "run.mp4",
    ".mkv": "run.mp4",
    ".ogg": "lena.ogg",
    ".mp3": "lena.ogg",
    ".wav": "lena.ogg",
    ".jpg": "imageTextN.png",
    ".png": "imageTextN.png",
    ".tif": "imageTextN.png",
    ".tiff": "imageTextN.png",
}
_CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest>'
    '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)


@frozen
class Bench:
    """`home` has a map `ID` of `task`'s file, whose nodes n0, n1, ... are its places."""

    task: Task
    home: Path
    kit: CiteKit

    def resolve(self, number: int) -> Evidence:
        """The evidence of a place."""
        return self.kit.resolve(ID, f"n{number}", accurate=self.task.accurate)


def bench(task: Task, home: Path) -> Bench:
    """A new home whose source is known."""
    return _bench(task, home, task.material.path)


def fresh(task: Task, folder: Path, count: int) -> list[Bench]:
    """Homes in which another file of the kind was cut before, each with a copy of the source that nobody has opened before.

    So the parser is at hand, as the bare library is that it is compared with. A PDF was mapped there, as it is before
    anything is cut: what the mapper learned of it lies in the index.
    """
    learned = _learned(task, folder / "learned")
    homes = [folder / f"fresh-{number}" for number in range(count)]
    for home in homes:
        home.mkdir(parents=True)
        shutil.copyfile(task.material.path, _copy(home, task))
        if learned is not None:
            shutil.copytree(learned, home / ".citekit_cache" / learned.name)
    time.sleep(SETTLED)
    made = [_bench(task, home, _copy(home, task)) for home in homes]
    for each in made:
        other = each.kit.ingest(_other(each.home, task.material.path.suffix))
        each.kit.resolve(other.resource_id, other.nodes[0].id)
    return made


def _other(home: Path, suffix: str) -> Path:
    """A small file of the same kind."""
    if suffix == ".epub":
        return _small_book(home / "other.epub")
    sample = files("citekit.samples") / _SAMPLES.get(suffix, "PDDocument.java")
    path = home / f"other{Path(str(sample)).suffix}"
    path.write_bytes(sample.read_bytes())
    return path


def _small_book(path: Path) -> Path:
    with ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", _CONTAINER)
        book.writestr("book.opf", _PACKAGE)
        book.writestr(
            "one.xhtml", '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>A line.</p></body></html>'
        )
    return path


def _learned(task: Task, home: Path) -> Path | None:
    """The index of a home in which a PDF was mapped; copied, so that it is mapped once. Other mappers leave nothing there."""
    if task.material.path.suffix != ".pdf":
        return None
    CiteKit(home).ingest(task.material.path)
    return home / ".citekit_cache" / INDEX


def _copy(home: Path, task: Task) -> Path:
    return home / f"copy{task.material.path.suffix}"


def _bench(task: Task, home: Path, path: Path) -> Bench:
    kit = CiteKit(home)
    source = kit.app.sources.identify(path)
    nodes = [
        {"id": f"n{number}", "title": f"Place {number}", "type": "part", "location": task.place(number), "children": []}
        for number in range(NODES)
    ]
    written = {
        "resource_id": ID,
        "type": task.type,
        "title": task.name,
        "source_path": str(path),
        "metadata": {
            "source_hash": source.digest.hex,
            "source_size": path.stat().st_size,
            "format": source.format.name,
            "map_version": 1,
        },
        "nodes": nodes,
        "created_at": "2026-01-05T09:30:00+00:00",
    }
    (home / ".resource_maps").mkdir(parents=True)
    (home / ".resource_maps" / f"{ID}.json").write_text(json.dumps(written), "utf-8")
    kit.resolve(ID, "n0", virtual=True)
    return Bench(task, home, kit)
