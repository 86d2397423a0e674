"""Whatever anybody sends: texts, maps, messages, calls, and files of every format, whole, broken and damaged.

Everything ends in a value or in one error of ours, in bounded time; the process that is fed lives through all of it, and
writes nothing outside of its home. The same input gives the same map and the same bytes again, in another process too.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from attrs import define, field

from tests.faults import coverage_guided
from tests.faults.devouring import PATIENCE
from tests.faults.files import Fed, Pantry, Server, whole_pantry
from tests.faults.mcp_inputs import calls_of, lines_of
from tests.faults.mutations import mutated_text, seeded
from tests.faults.table import BRIEF, Row, Scale
from tests.faults.targets import targets

AREA = "inputs"

UNGUIDED = "; not guided by coverage: Atheris is not here (pip install --group fuzz)"

HELD = 700
"""Megabytes that the process that is fed may hold when all is over."""

GROUPS = {
    "pdf": "PDF", "epub": "books", "mobi": "books", "fb2": "books", "cbz": "books", "eml": "mail", "mbox": "mail", "docx": "office", "pptx": "office", "xlsx": "office",
    **dict.fromkeys(["mp4", "m4v", "mov", "qt", "mkv", "webm", "avi", "mpg", "mpeg", "m2v", "m2ts", "flv", "wmv", "3gp", "ogv"], "video"),
    **dict.fromkeys(["mp3", "wav", "m4a", "m4b", "aac", "flac", "ogg", "oga", "spx", "opus", "aiff", "aif", "wma", "caf", "wv"], "audio"),
    **dict.fromkeys(["jpg", "jpeg", "png", "apng", "gif", "tif", "tiff", "webp", "bmp", "avif", "heic", "heif", "hif", "ico", "ppm", "pgm", "jp2", "j2k"], "images"),
    **dict.fromkeys(["vtt", "srt", "ass", "ssa"], "subtitles"),
}  # fmt: skip
"""Suffixes and what their row is called; all others are texts."""


def run(scale: Scale) -> Sequence[Row]:
    """`scale.inputs` files, as many calls, lines and texts of every kind; texts are guided by coverage for `scale.seconds` in all."""
    with tempfile.TemporaryDirectory(prefix="citekit-inputs-") as folder:
        root = Path(folder).resolve()
        pantry = whole_pantry(root / "small") if scale.inputs > BRIEF.inputs else few(root / "small")
        return [
            *texts(scale.inputs),
            *(guided(scale.seconds) if scale.inputs > BRIEF.inputs else ()),
            calls_of(scale.inputs),
            lines_of(scale.inputs),
            *files(root, pantry, scale.inputs),
            again(root, pantry, max(3, scale.inputs // 40)),
        ]


def few(folder: Path) -> Pantry:
    """One format of each group: they are made fast."""
    return Pantry.of_small_files(folder, ("pdf", "epub", "docx", "mp4", "wav", "png", "subtitles", "python", "html"))


def texts(count: int) -> list[Row]:
    """`count` damaged examples of every target of `targets`."""
    rows = []
    for name, target in targets().items():
        meant, faults = 0, []
        for number in range(count):
            chance = seeded(name, number)
            data = mutated_text(chance, chance.choice(target.seeds), target.seeds)
            try:
                meant += target.law(data)
            except Exception as error:
                faults.append(f"{name} {number}: {type(error).__name__}: {error}")
        for each in faults:
            sys.stderr.write(f"{each}\n")
        note = faults[0][:200] if faults else f"{meant:,} meant something, the others were refused"
        note += "" if coverage_guided.is_possible() else UNGUIDED
        rows.append(Row(AREA, f"mutated: {name}", count, count - len(faults), note))
    return rows


def guided(seconds: float) -> list[Row]:
    """Every target for its share of the time, guided by coverage; nothing where Atheris is not installed."""
    if not coverage_guided.is_possible():
        return []
    rows = []
    for name in targets():
        found = coverage_guided.guided(name, max(1.0, seconds / len(targets())))
        note = found.fault or f"{found.edges} edges reached"
        rows.append(Row(AREA, f"guided by coverage: {name}", found.tried, found.tried - bool(found.fault), note))
    return rows


@define
class _Count:
    """One row in the making."""

    tried: int = 0
    mapped: int = 0
    cut: int = 0
    faults: list[str] = field(factory=list)
    limits: list[tuple[str, str]] = field(factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def add(self, fed: Fed) -> None:
        self.tried += 1
        if fed.faults:
            self.faults.append(f"{fed.name}: {fed.faults[0]}")
        if fed.told is not None:
            self.mapped += bool(fed.told["map"])
            self.cut += fed.told["cut"]
            self.limits += [(kind, fed.name) for kind in dict.fromkeys(fed.told["limits"])]
            self.slowest = max(self.slowest, (fed.told["seconds"], fed.name))

    def row(self, what: str) -> Row:
        died = Counter(kind for kind, _ in self.limits)
        parts = [f"{self.mapped} mapped, {self.cut} parts cut"]
        for kind, count in sorted(died.items()):
            names = [name for each, name in self.limits if each == kind]
            parts.append(f"{count} {_WORDS[kind]}: {', '.join(names[:6])}{' ...' if count > 6 else ''}")
        parts.append(f"slowest {self.slowest[0]:.1f} s ({self.slowest[1]})")
        return Row(AREA, what, self.tried, self.tried - len(self.faults), "; ".join([*self.faults[:2], *parts]))


_WORDS = {
    "died": "children died",
    "silent": "children ended for their silence",
    "memory": "stopped at the limit of memory",
    "size": "stopped at the limit of size",
    "nonsense": "children answered without sense",
}


def files(root: Path, pantry: Pantry, count: int) -> list[Row]:
    """Every file of the pantry as it is, if `count` allows, and then damaged ones, all through one process."""
    whole = pantry.whole if count > BRIEF.inputs else []
    names = [*whole, *pantry.damaged(max(count - len(whole), 0))]
    counts: defaultdict[str, _Count] = defaultdict(_Count)
    held = 0
    with Server.at(root / "server") as server:
        for name in names:
            given = pantry.input(name)
            fed = server.feed(given)
            held = fed.told["held"] if fed.told is not None else held
            counts[f"{_group(given.format, given.file)} {'as they are' if given.kind == 'whole' else 'damaged'}"].add(
                fed
            )
            for each in fed.faults:
                sys.stderr.write(f"{name}: {each}\n")
        server.end()
        left, changed = server.left_over(), server.changed_around()
    rows = [counts[what].row(what) for what in sorted(counts)]
    fault = changed or held > HELD or bool(left)
    note = f"{held} MB held at the end; {len(left)} files left in the temporary folder; no write around the home"
    note = note.replace("no write", "A WRITE") if changed else note
    return [*rows, Row(AREA, "one process for all of these files", 1, int(not fault), note)]


def _group(suffix: str, file: str) -> str:
    return GROUPS.get((suffix or file).lstrip("."), "texts")


def again(root: Path, pantry: Pantry, count: int) -> Row:
    """A sample twice, in two processes and two homes: the same map, the same bytes, the same refusal."""
    every = list(pantry.damaged(count * 3)) + pantry.whole
    names = seeded("again", count).sample(every, k=min(count, len(every)))
    first, second = (_told(root / f"again{run}", pantry, names) for run in (1, 2))
    differ = [name for name, one, two in zip(names, first, second, strict=True) if _differ(one, two)]
    for name in differ:
        sys.stderr.write(f"not the same again: {name}\n")
    note = f"differ: {', '.join(differ[:5])}" if differ else "maps and bytes are the same"
    return Row(AREA, "the same input in another process", len(names), len(names) - len(differ), note)


def _told(root: Path, pantry: Pantry, names: Iterable[str]) -> list[dict[str, Any] | None]:
    with Server.at(root) as server:
        return [server.feed(pantry.input(name)).told for name in names]


def _differ(one: dict[str, Any] | None, two: dict[str, Any] | None) -> bool:
    """Whether two answers differ, where no limit of time was met in either: what a clock ends may end elsewhere."""
    if one is None or two is None:
        return True
    if one["limits"] or two["limits"] or max(one["seconds"], two["seconds"]) > PATIENCE:
        return False
    kinds = [[each.split(":")[:2] for each in answer["refusals"]] for answer in (one, two)]
    return any(one[key] != two[key] for key in ("map", "parts")) or kinds[0] != kinds[1]


def main() -> None:
    """How long each part takes."""
    begun = monotonic()
    for row in run(Scale(14.0, int(sys.argv[1]) if len(sys.argv) > 1 else BRIEF.inputs)):
        print(f"{monotonic() - begun:6.1f} {row}")


if __name__ == "__main__":
    main()
