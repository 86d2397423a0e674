"""Writes docs/reference/model-faults.md by letting every fault happen at a local server: `python docs/generate_faults.py`.

`python docs/generate_faults.py promises [FILE]` writes what the last whole run of `make faults` found into
docs/reference/promises.md, which `make faults` does by itself.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.faults.results import load_results, page_table
from tests.services import gemini_faults, openai_faults

ROOT = Path(__file__).parents[1]

PROMISES = ROOT / "docs" / "reference" / "promises.md"

FOUND = ROOT / "benchmarks" / "results" / "faults.json"

MARKS = re.compile(r"(<!-- measured: faults -->\n).*?(<!-- end of faults -->)", re.DOTALL)

PAGE = Path(__file__).parent / "reference" / "model-faults.md"

TOP = """\
<!-- Written by docs/generate_faults.py, which lets each fault happen at a local server. Do not edit. -->

# What goes wrong at a model's service, and what you see

Each row was made by the service's real SDK talking over HTTP to a local server that behaves as the service documents.
Asked again are only failures after which the same request may succeed (HTTP 408, 429, 500, 502, 503, 504, a lost
connection), after a growing pause or the one that `Retry-After` names. A failed ingest leaves no map, and nothing at the
service; where even deleting fails, the file is remembered, deleted by the next run, and shown by `citekit doctor`.
"""

HEAD = "| fault | what you see | requests | pauses | left at the service |\n| --- | --- | --- | --- | --- |"


def page() -> str:
    """The page as it should be."""
    return "\n".join(
        [TOP, "## Gemini\n", HEAD, *_gemini(), "\n## OpenAI and compatible servers\n", HEAD, *_openai(), ""]
    )


def _gemini() -> Iterator[str]:
    for fault in gemini_faults.faults():
        with tempfile.TemporaryDirectory() as folder:
            done = gemini_faults.outcome_of(fault, Path(folder))
        sent = ", ".join(f"{count} {kind}" for kind, count in sorted(done.sent.items()) if count)
        left = (
            f"{len(done.remained)}, remembered"
            if done.remained and done.remembered
            else str(len(done.remained) or "nothing")
        )
        yield _row(fault.name, done.seen, sent, len(done.pauses), left)


def _openai() -> Iterator[str]:
    for fault in openai_faults.FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            done = openai_faults.outcome_of(fault, Path(folder))
        notes = f" ({done.reply.notes[0]})" if done.reply is not None and done.reply.notes else ""
        yield _row(fault.name, done.seen or f"the answer{notes}", str(len(done.sent)), len(done.pauses), "nothing")


def _row(name: str, seen: str | None, sent: str, pauses: int, left: str) -> str:
    text = re.sub(r"127\.0\.0\.1:\d+", "SERVER", seen or "the answer")
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/[^ ',]*/", "", re.sub(r"\s+", " ", text)).replace("|", "\\|")
    return f"| {name} | {text} | {sent or 'none'} | {pauses or 'none'} | {left} |"


def promises(text: str, found: Path) -> str:
    """The page of promises with the table of that run between its marks. Raises `ValueError` if it has no marks."""
    if not MARKS.search(text):
        raise ValueError(f"{PROMISES} has no marks around the table of what was tried")
    table = page_table(load_results(found))
    return MARKS.sub(lambda marks: f"{marks[1]}\n{table}\n\n{marks[2]}", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["promises"]:
        source = Path(sys.argv[2]) if sys.argv[2:] else FOUND
        PROMISES.write_text(promises(PROMISES.read_text(encoding="utf-8"), source), encoding="utf-8")
    else:
        PAGE.write_text(page(), encoding="utf-8")
