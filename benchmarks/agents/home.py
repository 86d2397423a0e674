"""Maps the documents of a run into a home, and makes the page texts that grep searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pymupdf
from attrs import frozen

from citekit import CiteKit
from citekit.domain.errors import AlreadyIngested, CiteKitError

AUTHOR = "Benchmark"


@frozen
class Material:
    """A home and a folder of page texts of the same documents. `resources` has the resource ID of each document."""

    home: Path
    pages: Path
    resources: Mapping[str, str]


def chosen(folders: Sequence[Path], asked: set[str], others: int) -> list[Path]:
    """The documents in `folders` that questions name, and `others` more, evenly spaced by name."""
    found = {path.name: path for folder in folders for path in sorted(folder.glob("*.pdf"))}
    rest = [path for name, path in sorted(found.items()) if name not in asked]
    step = max(1, len(rest) // others) if others else 1
    return [*(path for name, path in sorted(found.items()) if name in asked), *rest[::step][:others]]


def prepared(paths: Sequence[Path], asked: set[str], folder: Path) -> Material:
    """Map the documents in `folder/home`, index their text, and write their pages. Those that are `asked` about also
    become books of the library.

    What an earlier run made is used again. A document that cannot be mapped is reported and left out.
    """
    kit = CiteKit(folder / "home")
    resources: dict[str, str] = {}
    for path in paths:
        try:
            resource_id = resources[path.name] = kit.ingest(path).resource_id
            kit.find_text("the", resource_id, limit=1)
            if path.name in asked:
                with suppress(AlreadyIngested):
                    kit.library().ingest(path, title=path.stem, author=AUTHOR)
        except CiteKitError as error:
            print(f"left out: {path.name}: {error}", flush=True)
            resources.pop(path.name, None)
            continue
        _write_pages(path, folder / "pages" / path.stem)
        print(f"{path.name}: {resource_id}", flush=True)
    return Material(folder / "home", folder / "pages", resources)


def _write_pages(path: Path, folder: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    with pymupdf.open(path) as document:
        for number, page in enumerate(document, 1):
            (folder / f"{number:04}.txt").write_text(page.get_text(sort=True), "utf-8")
