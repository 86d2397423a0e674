"""Fixed policies of a scripted agent with a shell: grep on the texts of pages, and ripgrep-all on the PDF."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.agents.outcome import Trace
from benchmarks.agents.policies import best_line
from benchmarks.agents.questions import Question, search_words, shorter_and_shorter
from citekit.domain.words import words_of

LINES = 20
"""The number of lines of a search answer that are printed."""

WIDTH = 240
"""The number of characters of a line that are printed."""

READ = 6_000
"""The number of characters of a page that are printed, the default of readText."""

_FILE_LINE = re.compile(r"^(\d+)\.txt:\d+:(.*)$")
_PAGE_LINE = re.compile(r"^\d+:Page (\d+): (.*)$")


def grep(folder: Path, question: Question, *, reads: bool) -> Trace:
    """Search the pages that have all words for lines with any of them, with fewer words until there are some; then, if
    `reads`, print the page of the best line; then look for the quote in that page.

    `folder` has a text file for each page.
    """
    trace, words, output = Trace(), [""], ""
    for words in shorter_and_shorter(search_words(question.text, question.document)):
        first, *others = (f"grep -liw -- {shlex.quote(word)}" for word in words)
        pages = " | ".join([f"{first} *.txt", *(f"xargs -r {each}" for each in others)])
        patterns = " ".join(f"-e {shlex.quote(word)}" for word in words)
        search = f"xargs -r grep -niwH {patterns} | cut -c -{WIDTH} | head -n {LINES}"
        output = trace.answered(_run(f"{pages} | {search}", folder))
        if output:
            break
    found = [(int(number), line.strip()) for number, line in map(_split, output.splitlines()) if number]
    _finish_grep(trace, found, words, folder, reads=reads)
    return trace


def _split(line: str) -> tuple[str, str]:
    match = _FILE_LINE.match(line)
    return (match[1], match[2]) if match else ("", "")


def _finish_grep(
    trace: Trace, found: Sequence[tuple[int, str]], words: Sequence[str], folder: Path, *, reads: bool
) -> None:
    _rank(trace, found, words)
    if trace.page is None:
        return
    name = f"{trace.page:04}.txt"
    lines = [line for page, line in found if page == trace.page]
    if reads:
        lines = trace.answered(_run(f"head -c {READ} {name}", folder)).splitlines()
    quote = best_line([line.strip() for line in lines], words)
    trace.quoted = trace.answered(_run(f"grep -cF -- {shlex.quote(quote)} {name}", folder)).strip() not in ("", "0")


def _rank(trace: Trace, found: Sequence[tuple[int, str]], words: Sequence[str]) -> None:
    """Show the pages, that of the line with the most words first."""
    wanted = set(words)
    ranked = sorted(found, key=lambda each: -len(wanted & set(words_of(each[1]))))
    trace.show([page for page, _ in ranked])
    trace.page = trace.pages[0] if trace.pages else None


def has_ripgrep_all() -> bool:
    """Whether the program rga is installed."""
    return shutil.which("rga") is not None


def ripgrep_all(path: Path, question: Question) -> Trace:
    """Search the PDF for lines with any of the words, and count the lines with the quote. Requires `rga`."""
    trace, words, found = Trace(), [""], []
    for words in shorter_and_shorter(search_words(question.text, question.document)):
        patterns = " ".join(f"-e {shlex.quote(word)}" for word in words)
        output = trace.answered(_run(f"rga -niw {patterns} {shlex.quote(path.name)} | cut -c -{WIDTH}", path.parent))
        matches = (_PAGE_LINE.match(line) for line in output.splitlines())
        found = [(int(match[1]), match[2].strip()) for match in matches if match]
        if found:
            break
    _rank(trace, found, words)
    if trace.page is not None:
        quote = best_line([line for page, line in found if page == trace.page], words)
        counted = trace.answered(_run(f"rga -cF -- {shlex.quote(quote)} {shlex.quote(path.name)}", path.parent))
        trace.quoted = counted.strip() not in ("", "0")
    return trace


def _run(command: str, folder: Path) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, timeout=120, check=False)
    return done.stdout.decode("utf-8", "replace")
