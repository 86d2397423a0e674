"""The goals, and what the last answers to the questions say of each.

python -m benchmarks.targets
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from benchmarks.report import QUESTIONS, Table, drawn, read, shown

Facts = Mapping[str, float | None]

SIZES = (10, 1_000, 100_000)
LOOKS = ("getNode", "resolve virtual", "resolve repeated")
LATENCIES = {"listResources": (10, "10 ms"), "getStructure": (50, "10–50 ms"), "getNode": (5, "5 ms")}
VIRTUAL = "10 ms, about"
SLOW = "1–30 s"

PDFS = ("PDF, 4 of 900 pages", "PDF, 4 of 2,400 pages")
CLIPS = ("film, 30 s",)
PICTURES = ("photo, a quarter of 20 MP", "16-bit TIFF, a quarter of 12 MP")
TEXTS = ("text, 40 lines of 9 MB", "text, 40 lines of 26 MB")
CUTS = (*PDFS, *CLIPS, "sound, 30 s", *PICTURES, *TEXTS, "EPUB, a chapter")


@frozen
class Goal:
    """`facts` are figures of which the worst counts; met where it is at most `limit`, or at least with `floor`."""

    what: str
    limit: float
    unit: str
    facts: Sequence[str]
    specified: str = "—"
    floor: bool = False

    def told(self) -> str:
        """The goal in words."""
        return f"{'at least' if self.floor else 'at most'} {self.limit:,.6g}{self.unit}"

    def measured(self, facts: Facts) -> float | None:
        """The worst of the figures, None where none of them was measured."""
        worst: Callable[[Iterable[float]], float] = min if self.floor else max
        values = [value for name in self.facts if (value := facts.get(name)) is not None]
        return worst(values) if values else None

    def is_met(self, value: float) -> bool:
        """Whether that is good enough."""
        return value >= self.limit if self.floor else value <= self.limit


def goals() -> list[Goal]:
    """All of them."""
    return [*_protocol(), *_starting(), *_extracting(), *_repeating(), *_ingesting(), *_scaling()]


def _times(what: str, limit: float, *facts: str, specified: str = "—", floor: bool = False) -> Goal:
    return Goal(what, limit, " times", facts, specified, floor)


def _protocol() -> list[Goal]:
    def everywhere(name: str, figure: str) -> list[str]:
        return [f"{name} at {size}: {figure}" for size in SIZES]

    made = [
        Goal(f"{name}: the specification", limit, " ms", everywhere(name, "ms"), specified)
        for name, (limit, specified) in LATENCIES.items()
    ]
    made.append(Goal("resolve virtual: the specification", 10, " ms", everywhere("resolve virtual", "ms"), VIRTUAL))
    made += [_times(f"{name}, to an empty tool", 1.15, *everywhere(name, "to empty")) for name in LOOKS]
    same = "to a tool of the same length"
    for name in ("getStructure", "listResources"):
        made.append(_times(f"{name}, {same}", 1.5, *everywhere(name, "to same length")))
    return made


def _starting() -> list[Goal]:
    commands = ("--help", "list, an empty home", "list, 10 maps", "list, 1,000 maps")
    return [
        _times("serve, to initialized, to a bare script", 1.3, "initialized: to bare"),
        _times("serve, to the first answer, to a bare script", 1.3, "first answer: to bare"),
        *(_times(f"citekit {name}, to importing click", 1.3, f"{name}: to click") for name in commands),
        Goal(
            "modules imported too early", 0, "", [f"{name}: forbidden imports" for name in ("--help", "list", "serve")]
        ),
    ]


def _extracting() -> list[Goal]:
    floors = {**dict.fromkeys(CUTS, 1.0), **dict.fromkeys(PDFS, 3.0), **dict.fromkeys(CLIPS, 1.2)}
    made = []
    for name in CUTS:
        made.append(Goal(f"{name}: the specification", 30_000, " ms", [f"{name}: ms"], SLOW))
        if not name.startswith("EPUB"):
            faster = f"{name}, faster than citekit 0.2.1"
            made.append(_times(faster, floors[name], f"{name}: times faster than peer", floor=True))
        library = "cut, to the fastest library"
        made += [_times(f"{name}, {cut} {library}", 1.3, f"{name}: {cut} to fastest bare") for cut in ("first", "next")]
    return made


def _repeating() -> list[Goal]:
    large = [f"{size} objects: again to smallest" for size in (10_000, 1_000_000)]
    return [
        _times("repeated resolve in a large cache, to a small one", 1.3, *large),
        _times("repeated resolve, 8 clients at once, to an empty tool", 1.3, "8 clients: to empty"),
    ]


def _ingesting() -> list[Goal]:
    files = ("r-intro.pdf", "big-buck-bunny-full.mp4", "film.mp4")
    runs = ("same process", "new home object", "citekit ingest FOLDER")
    return [
        Goal("an unchanged file", 5, " ms", [f"{file}: unchanged ms" for file in files]),
        *(Goal(f"10,000 unchanged files, {run}", 3, " s", [f"all, unchanged, {run}: seconds"]) for run in runs),
    ]


def _scaling() -> list[Goal]:
    libraries = ((5_000, 200), (100_000, 10))
    made = [Goal("memory of a server with 100,000 maps", 150, " MB", ["memory at most: MB"])]
    for maps, nodes in libraries:
        facts = [f"search of {maps}x{nodes}: p50 ms"]
        made.append(Goal(f"search over 1,000,000 nodes ({maps:,} maps), p50", 50, " ms", facts))
    made.append(
        _times("evidence on disk, to what is allowed", 1, "churn, a piece every few seconds: largest to allowed")
    )
    return made


def table() -> Table:
    """Goals and figures."""
    facts: dict[str, float | None] = {}
    for question in QUESTIONS:
        facts |= (read(question) or {}).get("facts", {})
    made = Table("Goals", ("what", "specification", "goal", "measured", "met"))
    for goal in goals():
        value = goal.measured(facts)
        met = "not measured" if value is None else "yes" if goal.is_met(value) else "no"
        made.row(goal.what, goal.specified, goal.told(), None if value is None else f"{shown(value)}{goal.unit}", met)
    counted = {word: sum(row[-1] == word for row in made.rows) for word in ("yes", "no", "not measured")}
    made.notes.append(
        f"{counted['yes']} are met, {counted['no']} are not, {counted['not measured']} were not measured."
    )
    return made


def main() -> None:
    """Print the table."""
    print(drawn(table()))


if __name__ == "__main__":
    main()
