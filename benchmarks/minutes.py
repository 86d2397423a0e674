"""Measures whether a question finds the minute that answers it: python -m benchmarks.minutes FOLDER [--unseen].

FOLDER has the subtitles (SRT) of the recordings that `minutes.json` names, which are in public repositories:
madprogramer/google-video-captions (captions/en, Creative Commons BY 3.0) and c3lingo/cccamp23-transcripts. The recordings
themselves aren't needed: each subtitle file is put beside a silent recording of the same length. All of them are then in
one library, and each question is asked about all of it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
import wave
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from citekit.application.library.answers import AskRequest
from citekit.application.library.ingest_book import BookRequest
from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.quotes.verdict_finding import Finding

QUESTIONS = Path(__file__).with_suffix(".json")
COLLECTION = "recordings"
HOUR = 3600
MOST = 5
_TIMES = re.compile(r"(\d+):(\d\d):(\d\d)[,.](\d{1,3})")


class Asked(TypedDict):
    """A question, and the seconds of a recording between which it is answered."""

    recording: str
    question: str
    start: float
    end: float


def seconds(found: re.Match[str]) -> float:
    return int(found[1]) * HOUR + int(found[2]) * 60 + int(found[3]) + int(found[4].ljust(3, "0")) / 1000


def write_recording(folder: Path, subtitles: Path) -> Path:
    """Copy the subtitles beside a silent recording. Times of tape, which begin at one hour, begin at zero instead."""
    text = subtitles.read_text("utf-8-sig", "replace")
    times = [seconds(each) for each in _TIMES.finditer(text)]
    shift = HOUR if times[0] >= HOUR else 0

    def shifted(found: re.Match[str]) -> str:
        at = max(0.0, seconds(found) - shift)
        return f"{int(at // HOUR):02}:{int(at % HOUR // 60):02}:{at % 60:06.3f}".replace(".", ",")

    (folder / subtitles.name).write_text(_TIMES.sub(shifted, text), "utf-8")
    sound = folder / f"{subtitles.stem}.wav"
    with wave.open(str(sound), "wb") as file:
        file.setparams((1, 1, 100, 0, "NONE", ""))
        file.writeframes(b"\x80" * (100 * (int(max(times)) - shift + 1)))
    return sound


def asked_library(app: Container, question: str) -> list[tuple[str, Location]]:
    """Return the passages of the hits, each with its recording, best first, and report quotes that do not hold."""
    request = AskRequest(query=question, collection=COLLECTION, limit=MOST, threshold=0.0)
    hits = app.alexandria.ask(request).hits
    for hit in hits[:1]:
        if app.verify_quote(hit.chunk.resource_id, hit.passage or "").finding is Finding.ABSENT:
            print(f"  not a quote: {hit.passage_address}")
    return [(hit.chunk.book_title, parse_address(hit.passage_address or hit.chunk.address).location) for hit in hits]


def found_pages(app: Container, question: str) -> list[tuple[str, Location]]:
    pages = app.rank_pages(question, limit=MOST).pages
    return [(app.maps.get(page.resource_id).title, page.location) for page in pages]


def rank(answers: Sequence[tuple[str, Location]], wanted: Asked) -> int:
    """Return the place, from 1, of the first answer that overlaps the wanted time, or 0."""
    return next((place for place, each in enumerate(answers, 1) if is_hit(each, wanted)), 0)


def is_hit(answer: tuple[str, Location], wanted: Asked) -> bool:
    title, place = answer
    return (
        title == wanted["recording"]
        and isinstance(place, TimeSpan)
        and place.start < wanted["end"]
        and (place.end is None or place.end > wanted["start"])
    )


def report(name: str, ranks: Sequence[int]) -> None:
    first, any_ = sum(each == 1 for each in ranks), sum(each > 0 for each in ranks)
    print(f"{name}: {len(ranks)} questions, hit@1 {first / len(ranks):.2f}, hit@{MOST} {any_ / len(ranks):.2f}")


def main(folder: Path, which: str) -> None:
    questions: dict[str, list[Asked]] = json.loads(QUESTIONS.read_text("utf-8"))
    names = sorted({each["recording"] for asked in questions.values() for each in asked})
    with tempfile.TemporaryDirectory() as made:
        app = bootstrap(home=Path(made) / "home")
        began = time.perf_counter()
        for name in names:
            sound = write_recording(Path(made), folder / f"{name}.srt")
            app.alexandria.ingest_book(BookRequest(path=sound, collection=COLLECTION, title=name))
        took = time.perf_counter() - began
        print(f"{len(names)} recordings ingested in {took:.0f} s, embedder {app.alexandria.embedder.identity}")
        ways: dict[str, Callable[[Container, str], list[tuple[str, Location]]]] = {
            "query": asked_library,
            "find": found_pages,
        }
        for way, ask in ways.items():
            ranks = [rank(ask(app, each["question"]), each) for each in questions[which]]
            for each, place in zip(questions[which], ranks, strict=True):
                if place != 1 and which == "seen":
                    print(f"  {way} {place}: {each['question']}")
            report(f"{which}, {way}", ranks)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(str(__doc__).splitlines()[0])
    main(Path(sys.argv[1]), "unseen" if "--unseen" in sys.argv else "seen")
