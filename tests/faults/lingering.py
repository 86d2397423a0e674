"""Killed while the ffmpeg program cuts for it: whether that ends, too, and what is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tests.faults import checking
from tests.faults.operations import CLIP, ENVIRONMENT, FFMPEG, VIDEO, Place, make_inputs
from tests.faults.starting import ROOT
from tests.faults.table import Row

VICTIMS = ("the program", "its parser", "ffmpeg")

PATIENCE = 30.0
"""Seconds in which ffmpeg has to begin, and a process to end."""

TRIES = 5
"""How often a run is begun in which ffmpeg was done before it was seen."""


def row() -> Row:
    """Each of the three processes is killed while ffmpeg is in the middle of its work: stopped, so that it cannot end itself."""
    wrong = [f"{victim}: {fault}" for victim in VICTIMS for fault in list(killed(victim))[:1]]
    for each in wrong:
        print(f"while ffmpeg cuts: {each}", file=sys.stderr)
    note = "; ".join(wrong) or "ffmpeg ended each time, and nothing was left"
    return Row("kills", "while ffmpeg cuts a clip", len(VICTIMS), len(VICTIMS) - len(wrong), note)


def killed(victim: str) -> Iterator[str]:
    """What is wrong after that one was killed."""
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
        place = Place(Path(folder) / "inputs", Path(folder) / "home")
        make_inputs(place.inputs)
        place.home.mkdir()
        _ended(_started(place, VIDEO))
        before = checking.leftovers(place.home)
        program, parser, ffmpeg = _caught(place)
        os.kill(dict(zip(VICTIMS, (program.pid, parser, ffmpeg), strict=True))[victim], signal.SIGKILL)
        said = _ended(program)
        if victim != "the program" and (program.returncode != 1 or said.count("Error: ") != 1):
            yield f"exit {program.returncode}: {said[-300:]}"
        yield from (
            f"{name} lives on" for name, each in (("ffmpeg", ffmpeg), ("the parser", parser)) if _lives_on(each)
        )
        again = _started(place, CLIP)
        said = _ended(again)
        if again.returncode:
            yield f"again: exit {again.returncode}: {said[-300:]}"
        yield from checking.look(place.home).torn
        yield from (f"{each} was left" for each in sorted(checking.leftovers(place.home) - before))


def _caught(place: Place) -> tuple[subprocess.Popen[bytes], int, int]:
    """A program that cuts, its parser, and its ffmpeg, which is stopped."""
    for _ in range(TRIES):
        program = _started(place, CLIP)
        found = _stopped_below(program)
        if found is not None:
            return program, *found
        _ended(program)
        shutil.rmtree(place.home / ".citekit_cache", ignore_errors=True)
        shutil.rmtree(place.home / ".citekit_output", ignore_errors=True)
    raise TimeoutError("ffmpeg was not seen")


def _stopped_below(program: subprocess.Popen[bytes]) -> tuple[int, int] | None:
    deadline = time.monotonic() + PATIENCE
    while program.poll() is None and time.monotonic() < deadline:
        for parser in _children(program.pid):
            for ffmpeg in _children(parser):
                if _name(ffmpeg).startswith("ffmpeg"):
                    with suppress(ProcessLookupError):
                        os.kill(ffmpeg, signal.SIGSTOP)
                        return parser, ffmpeg
        time.sleep(0.001)
    return None


def _children(process: int) -> Sequence[int]:
    with suppress(OSError):
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(word) for task in tasks for word in (task / "children").read_text().split()]
    return []


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text()
    return ""


def _lives_on(process: int) -> bool:
    """Whether a process has not ended after a while; one that has, and that nobody asked about, does not count."""
    deadline = time.monotonic() + PATIENCE / 6
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return False
        except OSError:
            return False
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    return True


def _started(place: Place, words: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "citekit", *place.words(words)]
    environment = {**os.environ, **ENVIRONMENT, **FFMPEG}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=ROOT)


def _ended(program: subprocess.Popen[bytes]) -> str:
    """What it said on standard error, up to its end."""
    try:
        return program.communicate(timeout=PATIENCE)[1].decode("utf-8", "replace")
    finally:
        program.kill()
