"""`python -m benchmarks.structure.scenes [CORPUS]`: scene cuts against joins made on purpose, beside PySceneDetect.

Stretches of real films without a cut are joined at known times, by hard cuts, dissolves and fades through black of 0.5 to
1 s, and encoded in several ways (`made_films.py`). A cut is found where a scene begins within 0.25 s of the join, a fade
within 0.5 s of its middle. One real film, and films without any cut, are measured beside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from benchmarks.places import BENCH, ROOT
from benchmarks.report import Report
from benchmarks.structure import made_films, scenes_peer
from benchmarks.structure.made_films import FILMS, Film

CUT, FADE = 0.25, 0.5
"""Seconds by which a cut and the middle of a fade may be missed."""

OURS = "citekit"
PLAIN = ("street-vtest.avi", "world-30s.mp4", "run.mp4", "speech-8s.mp4")
"""Films of the corpus in which nothing is cut: whatever is found there is wrong."""

LONG = "big-buck-bunny-full.mp4"

_MEASURED = """
import json, resource, sys, time
from pathlib import Path
from citekit.adapters.formats.media.outline.scenes import find_cuts
from citekit.adapters.formats.media.probe import PyAvProbe
path = Path(sys.argv[1])
began = time.process_time()
facts = PyAvProbe().probe(path)
cuts = find_cuts(path, facts.duration, facts.frame_rate, facts.size, lambda *told: None)
seconds = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"times": list(cuts.times), "seconds": seconds, "peak": peak, "duration": facts.duration}))
"""


@frozen
class Measured:
    """Seconds at which scenes were found to begin; seconds of processor, MB at the peak, seconds of the film."""

    times: Sequence[float]
    seconds: float
    peak: float
    duration: float


@frozen
class Score:
    """How many were found of how many, and how many beside them were wrong."""

    found: int
    truth: int
    wrong: int

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where there was nothing to be found."""
        return 2 * self.found / (2 * self.found + self.wrong + self.truth - self.found) if self.truth else None

    def __add__(self, other: Score) -> Score:
        return Score(self.found + other.found, self.truth + other.truth, self.wrong + other.wrong)


def scores(film: Film, times: Sequence[float]) -> tuple[Score, Score]:
    """Those of cuts and of fades; a scene that begins at neither is wrong for the cuts, inside of a fade for the fades."""
    cuts, rest = _matched(film.cuts, times, CUT)
    fades, rest = _matched(film.fades, rest, FADE)
    near = [time for time in rest if any(abs(time - fade) <= 2 * FADE for fade in film.fades)]
    return Score(cuts, len(film.cuts), len(rest) - len(near)), Score(fades, len(film.fades), len(near))


def _matched(truth: Sequence[float], times: Sequence[float], slack: float) -> tuple[int, list[float]]:
    left = list(times)
    found = 0
    for time in truth:
        nearest = min(left, key=lambda each, at=time: abs(each - at), default=None)  # type: ignore[misc]
        if nearest is not None and abs(nearest - time) <= slack:
            left.remove(nearest)
            found += 1
    return found, left


def ours(path: Path) -> Measured:
    """Measured in a process of its own, on one thread's worth of processor time."""
    done = subprocess.run([sys.executable, "-c", _MEASURED, str(path)], check=True, capture_output=True, text=True,
                          cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})  # fmt: skip
    return Measured(**json.loads(done.stdout))


def run(corpus: Path | None) -> Report | None:
    """The table and its JSON; None without the corpus."""
    if corpus is None or not (corpus / "video" / LONG).exists():
        print("structure-scenes: needs the corpus (video/)", file=sys.stderr)
        return None
    report = Report("structure-scenes", "Scene cuts against joins made on purpose")
    ways: dict[str, Any] = {OURS: ours}
    if scenes_peer.ENVIRONMENT.missing() is None:
        ways |= {name: scenes_peer.measurer(name) for name in scenes_peer.DETECTORS}
    totals = _joined(report, corpus, ways)
    _plain(report, corpus, ways)
    for (name, part), score in totals.items():
        if name == OURS:
            report.fact(f"{part} F1", score.f1)
    report.finish()
    return report


def _joined(report: Report, corpus: Path, ways: dict[str, Any]) -> dict[tuple[str, str], Score]:
    table = report.table(
        "films joined on purpose: F1", "film", *(f"{way} {part}" for way in ways for part in ("cuts", "fades", "s/min"))
    )
    totals: dict[tuple[str, str], Score] = {}
    folder = BENCH / "films"
    folder.mkdir(parents=True, exist_ok=True)
    for recipe in FILMS:
        film = made_films.make(recipe, corpus, folder)
        cells: list[float | None] = []
        for way, measure in ways.items():
            seen = measure(film.path)
            cuts, fades = scores(film, seen.times)
            cells += [cuts.f1, fades.f1, 60 * seen.seconds / seen.duration]
            held = ", held back" if recipe.name.endswith("held back") else ""
            for part, score in ((f"cuts{held}", cuts), (f"fades{held}", fades)):
                totals[way, part] = totals.get((way, part), Score(0, 0, 0)) + score
        table.row(recipe.name, *cells)
    for held in ("", ", held back"):
        row = [
            totals[way, f"{part}{held}"].f1 if part != "-" else None for way in ways for part in ("cuts", "fades", "-")
        ]
        table.row(f"all{held}", *row)
    table.notes.append(scenes_peer.note())
    return totals


def _plain(report: Report, corpus: Path, ways: dict[str, Any]) -> None:
    table = report.table(
        "films of the corpus", "film", *(f"{way} {what}" for way in ways for what in ("scenes", "s", "s/min", "MB"))
    )
    for name in (*PLAIN, LONG):
        cells: list[float | int] = []
        for way, measure in ways.items():
            seen = measure(corpus / "video" / name)
            cells += [len(seen.times) + 1, seen.seconds, 60 * seen.seconds / seen.duration, seen.peak]
            if (way, name) == (OURS, LONG):
                report.fact("seconds for ten minutes of 720p", 600 * seen.seconds / seen.duration)
        table.row(name, *cells)
    table.notes.append("Nothing is cut in any but the last: there 1 scene is right.")


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CITEKIT_CORPUS", ".corpus/dev")).expanduser())
