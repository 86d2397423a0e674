"""Those who hold a lock are killed, or stopped as a laptop that is closed; the others go on."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from citekit import CiteKit
from tests.faults.audited import Log
from tests.faults.crowd import AREA, ROOT
from tests.faults.table import Row
from tests.faults.truth import Known, text, wrong_with

PATIENCE = 60.0
"""Seconds in which a process has to say what is waited for."""


@define
class Process:
    """A running `tests.faults.holder`."""

    running: subprocess.Popen[bytes]
    unread: bytes = b""
    said: list[str] = field(factory=list)

    def until(self, *beginnings: str) -> str:
        """What it says that begins so. Raises `AssertionError` where it ends or hangs instead."""
        deadline = time.monotonic() + PATIENCE
        while True:
            line = self._line(deadline)
            self.said.append(line)
            if line.startswith(beginnings):
                return line
            if line.startswith(("done", "failed")):
                raise AssertionError(f"it said {line!r} instead of {beginnings}")

    def go_on(self) -> None:
        """Let it pass the point where it is."""
        assert self.running.stdin is not None
        self.running.stdin.write(b"\n")
        self.running.stdin.flush()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.running.send_signal(number)

    def _line(self, deadline: float) -> str:
        assert self.running.stdout is not None
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.running.stdout], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self.running.stdout.fileno(), 65536) if ready else b""
            if not data:
                raise AssertionError(f"it {'ended' if ready else 'hangs'} after {self.said}")
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode()


@frozen
class Scene:
    """Where a holder stops, and what all of them do."""

    point: str
    work: str
    kind: str

    def plan(self, home: Path, known: Known) -> dict[str, Any]:
        """What a process is told to do."""
        path = str(home / "sources" / known.file)
        match self.work:
            case "cut":
                return {"address": known.part(3)}
            case "take in":
                return {"book": path}
        return {"path": path, "name": known.name}


SCENES = (
    Scene("half cut", "cut", "cut"),
    Scene("taking in", "cut", "cut"),
    Scene("placing", "cut", "cut"),
    Scene("mapped", "map", "map"),
    Scene("storing", "map", "map"),
    Scene("index open", "take in", ""),
)


@contextmanager
def processes(folder: Path, scene: Scene, plans: Sequence[dict[str, Any]]) -> Iterator[list[Process]]:
    """A process for each plan, ready to begin; none is left afterwards."""
    home, known = folder / "home", text("letters")
    path = known.write(home / "sources")
    if scene.work == "cut":
        CiteKit(home).ingest(path, resource_id=known.name)
    common = {"home": str(home), "log": str(folder / "log"), **scene.plan(home, known)}
    with ExitStack() as stack:
        started = [Process(stack.enter_context(_running({**common, **plan}))) for plan in plans]
        for process in started:
            process.until("ready")
        yield started


@contextmanager
def _running(plan: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.faults.holder", json.dumps(plan)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def killed(folder: Path, scene: Scene) -> Iterator[str]:
    """What is wrong after the holder was killed while two others wait for it."""
    with processes(folder, scene, [{"stop": scene.point}, {}, {}]) as (holder, *others):
        holder.go_on()
        holder.until(f"at {scene.point}")
        for other in others:
            other.go_on()
        if scene.point in ("half cut", "mapped"):
            for other in others:
                other.until("waiting")
        holder.signal(signal.SIGKILL)
        yield from _ended(others, ("done",) if scene.work != "take in" else ("done", "failed AlreadyIngested"))
        yield from _aftermath(folder, scene, once=scene.point in ("half cut", "mapped"))


def stopped(folder: Path, scene: Scene) -> Iterator[str]:
    """What is wrong after the holder was stopped, one of two others gave up, and the holder went on."""
    with processes(folder, scene, [{"stop": scene.point}, {"cancel": 3}, {}]) as (holder, quitter, patient):
        holder.go_on()
        holder.until(f"at {scene.point}")
        holder.signal(signal.SIGSTOP)
        quitter.go_on()
        patient.go_on()
        yield from _ended([quitter], ("failed Cancelled",))
        if not any(line.startswith("waiting") for line in quitter.said):
            yield "the one that waited did not say for what"
        holder.signal(signal.SIGCONT)
        holder.go_on()
        yield from _ended([holder, patient], ("done",))
        yield from _aftermath(folder, scene, once=True)


def _ended(others: Sequence[Process], well: tuple[str, ...]) -> Iterator[str]:
    for other in others:
        try:
            said = other.until("done", "failed")
        except AssertionError as error:
            yield str(error)
        else:
            if not said.startswith(well):
                yield said


def _aftermath(folder: Path, scene: Scene, *, once: bool) -> Iterator[str]:
    home, log, known = folder / "home", Log(folder / "log"), text("letters")
    made = log.made(scene.kind) if scene.kind else {}
    if once and scene.kind and [1] != list(made.values()):
        yield f"made {list(made.values())} times"
    kit, path = CiteKit(home), home / "sources" / known.file
    name = known.name if scene.work != "take in" else "letters_txt"
    kit.ingest(path, resource_id=name)
    if scene.work != "take in":
        yield from wrong_with(kit.resolve(known.part(3)), known, known.part(3), path)
    if kit.app.evidence.verify().healed:
        yield "an object was damaged"
    left = [each.name for each in (home / ".citekit_cache" / "evidence").glob("making/*")]
    yield from (f"{each} was left" for each in left)


def _faults(found: Iterator[str]) -> list[str]:
    try:
        return list(found)
    except AssertionError as error:
        return [str(error)]


def run(seconds: float) -> Sequence[Row]:
    """Every scene at least once, again while there is time."""
    rows = []
    for what, act, scenes in (
        ("a holder killed, two wait for it", killed, SCENES),
        ("a holder stopped (SIGSTOP), one who waits gives up", stopped, [SCENES[0], SCENES[3], SCENES[4]]),
    ):
        tried, wrong, until = 0, list[str](), time.monotonic() + seconds / 2
        while not tried or time.monotonic() < until:
            for scene in scenes:
                with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
                    tried += 1
                    faults = _faults(act(Path(folder), scene))
                    wrong += [f"{scene.point}: {'; '.join(faults)}"] if faults else []
        rows.append(Row(AREA, what, tried, tried - len(wrong), " / ".join(sorted(set(wrong)))))
    return rows
