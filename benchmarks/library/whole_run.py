"""Whole run: ingest a real library, ask 50 questions, open every hit, and find its text in what was cut out.

usage: python -m benchmarks.library.whole_run LIBRARY [QUESTIONS.txt]

LIBRARY is a Calibre library or a folder of books; the home is a temporary folder. Exits with 1 where a hit did not open.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from attrs import define, field

from benchmarks.report import RESULTS
from citekit.application.library.answers import Answers, AskRequest, Hit
from citekit.application.library.batch import BatchRequest, Outcome, Status
from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import Form, Options
from citekit.settings import settings_from

QUESTIONS = Path(__file__).parent / "questions.txt"
COLLECTION = "alexandria"


@define
class Tally:
    """What was seen."""

    books: list[dict[str, Any]] = field(factory=list)
    milliseconds: list[float] = field(factory=list)
    hits: int = 0
    opened: int = 0
    found: int = 0
    faults: list[str] = field(factory=list)


def main(library: str, questions: str = str(QUESTIONS)) -> int:
    with tempfile.TemporaryDirectory(prefix="citekit-run-") as home:
        app = bootstrap(settings_from({**os.environ, "CALIBRE_LIBRARY_PATH": library}, home))
        tally = Tally()
        seconds = _ingest(app, tally)
        for question in Path(questions).read_text("utf-8").splitlines():
            _ask(app, question, tally)
        app.alexandria.index.close()
    return _report(tally, seconds)


def _ingest(app: Container, tally: Tally) -> float:
    batch, request = app.alexandria.batch_ingest, BatchRequest(collection=COLLECTION, limit=1_000_000)
    books = batch.books(request)
    started = perf_counter()
    for outcome in batch(books, request):
        tally.books.append(_book(outcome))
        print(f"  {outcome.status:8} {outcome.record.title[:50]:50} {outcome.reason or ''}", flush=True)
    return perf_counter() - started


def _book(outcome: Outcome) -> dict[str, Any]:
    plain: dict[str, Any] = {"title": outcome.record.title, "status": outcome.status.value, "reason": outcome.reason}
    if outcome.ingested is None:
        return plain
    entry = outcome.ingested.entry
    return {**plain, "format": entry.format, **entry.counts, "seconds": sum(entry.seconds.values())}


def _ask(app: Container, question: str, tally: Tally) -> None:
    started = perf_counter()
    answers = app.alexandria.ask(AskRequest(query=question, collection=COLLECTION, threshold=0.0))
    tally.milliseconds.append((perf_counter() - started) * 1000)
    for hit in answers.hits:
        tally.hits += 1
        _open(app, answers, hit, tally)


def _open(app: Container, answers: Answers, hit: Hit, tally: Tally) -> None:
    try:
        evidence = app.resolve(parse_address(hit.chunk.address), options=Options(Form.TEXT))
        whole = app.resolve(parse_address(hit.chunk.address))
    except CiteKitError as error:
        tally.faults.append(f"{answers.request.query!r}: {hit.chunk.address}: {error}")
        return
    if evidence.output_path is None or whole.output_path is None or not whole.output_path.stat().st_size:
        tally.faults.append(f"{answers.request.query!r}: {hit.chunk.address}: nothing was cut")
        return
    tally.opened += 1
    if _letters(hit.chunk.text) in _letters(evidence.output_path.read_text("utf-8")):
        tally.found += 1
    else:
        where = f"{hit.chunk.address}: the text of the hit is not in {evidence.output_path}"
        tally.faults.append(f"{answers.request.query!r}: {where}")


def _letters(text: str) -> str:
    """The text without what line breaks and hyphens change."""
    return re.sub(r"[\s\u00ad\u2010-]+", "", unicodedata.normalize("NFKC", text))


def _report(tally: Tally, seconds: float) -> int:
    done = [book for book in tally.books if book["status"] == Status.SUCCESS]
    words = sum(book["words"] for book in done)
    plain = {
        "books": len(tally.books),
        "ingested": len(done),
        "words": words,
        "chunks": sum(book["chunks"] for book in done),
        "passages": sum(book["passages"] for book in done),
        "seconds": round(seconds, 2),
        "books_per_hour": round(3600 * len(done) / seconds),
        "seconds_per_100000_words": round(seconds * 100_000 / max(1, words), 2),
        "questions": len(tally.milliseconds),
        "query_p50_ms": round(statistics.median(tally.milliseconds), 2),
        "query_p95_ms": round(_quantile(tally.milliseconds, 0.95), 2),
        "hits": tally.hits,
        "opened": tally.opened,
        "text_found": tally.found,
    }
    print()
    for name, value in plain.items():
        print(f"  {name.replace('_', ' '):28} {value}")
    for fault in tally.faults[:20]:
        print(f"  ! {fault}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "library_whole_run.json").write_text(json.dumps({**plain, "all": tally.books}, indent=1), "utf-8")
    return 1 if tally.faults else 0


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
