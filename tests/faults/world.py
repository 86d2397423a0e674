"""A world that changes under a running server, a program that has the home open, and commands."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, frozen

from citekit import CiteKit, CiteKitError
from tests.faults.crowd import AREA
from tests.faults.serving import Server, ToolError
from tests.faults.table import Row
from tests.faults.truth import Known, text, wrong_with

SETTLED = 0.12
"""Seconds after which a change of a file shows in its times."""


@define
class World:
    """A home that a server and a program have open, and the parts that all of them have been asked for."""

    home: Path
    kit: CiteKit
    server: Server
    known: tuple[Known, ...] = (text("letters"), Known("book", "doc"))
    parts: tuple[int, ...] = (3, 4)
    """Which of the parts of each source are asked for after a change: one that was asked for before, and one that was not."""

    @classmethod
    @contextmanager
    def opened(cls, home: Path) -> Iterator[World]:
        """With sources, maps and evidence."""
        for each in cls.known_sources():
            CiteKit(home).ingest(each.write(home / "sources"), resource_id=each.name)
        with Server.of(home) as server:
            world = cls(home, CiteKit(home), server)
            world.warm()
            yield world

    @classmethod
    def known_sources(cls) -> tuple[Known, ...]:
        """What is mapped."""
        return (text("letters"), Known("book", "doc"))

    def warm(self) -> None:
        """Everybody has the answers in memory, and the times of all files tell."""
        for _ in range(2):
            for each in self.known:
                self.kit.resolve(each.part(3))
                self.server.cut(each.part(3))
            time.sleep(SETTLED)

    def source(self, known: Known) -> Path:
        """Its file."""
        return self.home / "sources" / known.file

    @property
    def cache(self) -> Path:
        """The folder of the cache."""
        return self.home / ".citekit_cache"

    @property
    def objects(self) -> list[Path]:
        """The objects of the store."""
        return sorted(path for path in (self.cache / "evidence" / "objects").rglob("*") if path.is_file())

    @property
    def outputs(self) -> list[Path]:
        """The files that were laid out."""
        return sorted(path for path in (self.home / ".citekit_output").iterdir() if not path.name.startswith("."))

    def map_file(self, known: Known) -> Path:
        """The file of its map."""
        return self.home / ".resource_maps" / f"{known.name}.json"

    def wrong(self, edition: int = 0, refusal: str | None = None, *, command: bool = False) -> Iterator[str]:
        """What is wrong with the answers; `refusal` is in the text of an error that has to come instead of each."""
        for each in self.known:
            for number in self.parts:
                address = each.part(number)
                for who, cut in (("program", self._cut), ("server", self._served), ("command", self._commanded)):
                    if who != "command" or (command and number == 3):
                        for fault in self._judged(lambda: cut(each, address, edition), refusal):  # noqa: B023
                            yield f"{who}: {fault}"

    def _judged(self, cut: Callable[[], list[str]], refusal: str | None) -> list[str]:
        try:
            faults = cut()
        except (CiteKitError, ToolError) as error:
            said = refusal is not None and any(each in str(error) for each in refusal.split(" | "))
            return [] if said else [f"{type(error).__name__}: {error}"]
        return faults if refusal is None else [*faults, f"an answer, where {refusal!r} was to be said"]

    def _cut(self, known: Known, address: str, edition: int) -> list[str]:
        return list(wrong_with(self.kit.resolve(address), known, address, self.source(known), edition))

    def _served(self, known: Known, address: str, edition: int) -> list[str]:
        self.server.cut(address)
        return self._same(self.server.cut(address), known, address, edition)

    def _commanded(self, known: Known, address: str, edition: int) -> list[str]:
        command = [sys.executable, "-m", "citekit", "resolve", address, "--home", str(self.home), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise ToolError(done.stderr)
        return [] if self.kit.verify(_path_in(done.stdout)).genuine else [f"{address}: not genuine"]

    def _same(self, path: Path, known: Known, address: str, edition: int) -> list[str]:
        """The server's file against what the program cuts, and against its receipt."""
        given = self.kit.resolve(address)
        faults = list(wrong_with(given, known, address, self.source(known), edition))
        if given.output_path is None or path.read_bytes() != given.output_path.read_bytes():
            faults.append(f"{address}: the server shows other bytes")
        elif not self.kit.verify(path).genuine:
            faults.append(f"{address}: {path.name} is not genuine")
        return faults


def _path_in(output: str) -> Path:
    import json

    return Path(json.loads(output)["output_path"])


@frozen
class Change:
    """One change. While it lasts every answer has to be an error that says `refusal`, or one of several parted by ` | `.

    `undo` ends it.
    """

    name: str
    make: Callable[[World], object]
    refusal: str | None = None
    undo: Callable[[World], object] | None = None


def run_changes(world: World, changes: Sequence[Change], *, commands: bool) -> Iterator[tuple[str, list[str]]]:
    """Each change, and what was wrong while it lasted and after it."""
    for change in changes:
        faults = []
        with suppress(FileNotFoundError):
            change.make(world)
        faults += [f"meanwhile {each}" for each in world.wrong(refusal=change.refusal, command=commands)]
        if change.undo is not None:
            with suppress(FileNotFoundError):
                change.undo(world)
        faults += [f"afterwards {each}" for each in world.wrong()]
        yield change.name, faults
        world.warm()


def row(what: str, changes: Sequence[Change], *, commands: bool, slow: bool = False) -> Row:
    """One row of the table: every change, in a home of its own; of `slow` ones less is asked."""
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder, World.opened(Path(folder)) as world:
        world.known = world.known[:1] if slow else world.known
        found = dict(run_changes(world, changes, commands=commands))
    wrong = {name: faults for name, faults in found.items() if faults}
    note = " / ".join(f"{name}: {faults[0]}" for name, faults in wrong.items())
    return Row(AREA, what, len(found), len(found) - len(wrong), note)
