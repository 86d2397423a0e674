"""One of several processes that work on one home at once: `python -m tests.faults.crowd_worker PLAN`, a JSON object.

Prints what it did and what went wrong, as JSON. A dump of all its stacks goes to standard error where it hangs.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from attrs import define, field

from citekit import CiteKit
from citekit.domain.errors import AlreadyIngested, CollectionMissing, IndexUnavailable, RequestRefused, ResourceMissing
from tests.faults.audited import Log, audited
from tests.faults.serving import Server
from tests.faults.truth import Known, shelf, text, wrong_with

NEW_EVERY = 0.3
"""Seconds after which there is another file that nobody has mapped: all processes go for it."""

FOUND_AGAIN = (ResourceMissing,)
"""What may happen with a resource that another process removes meanwhile."""

OF_LIBRARY = (AlreadyIngested, CollectionMissing, IndexUnavailable, RequestRefused)
"""What the library says of a book that another process takes in or out, and of an index that another keeps too long."""


@define
class Worker:
    """Does one thing after another, by chance, until its time is over."""

    home: Path
    kit: CiteKit
    chance: Random
    pressure: bool
    server: Server | None
    deeds: Counter[str] = field(factory=Counter)
    wrong: list[str] = field(factory=list)
    refused: Counter[str] = field(factory=Counter)
    began: float = field(factory=time.time)

    def work(self, until: float, library: bool) -> None:
        """Until that time (seconds since the epoch)."""
        deeds: list[tuple[int, Callable[[], object]]] = [
            (30, self.resolve),
            (8, self.ingest_known),
            (10, self.ingest_new),
            (6, self.come_and_go),
            (5, self.read),
            (4, self.verify),
            (1, self.verify_store),
        ]
        deeds += [(6, self.prune), (1, self.clear)] if self.pressure else []
        deeds += [(4, self.ask_library)] if library else []
        deeds += [(8, self.ask_server)] if self.server is not None else []
        weights = [weight for weight, _ in deeds]
        while time.time() < until:
            (_, deed) = self.chance.choices(deeds, weights)[0]
            self.attempt(deed)

    def attempt(self, deed: Callable[[], object], allowed: tuple[type[Exception], ...] = ()) -> None:
        """Do it; any error but those is one that nobody caused."""
        self.deeds[getattr(deed, "__name__", "?")] += 1
        try:
            deed()
        except allowed as error:
            self.refused[type(error).__name__] += 1
        except Exception as error:
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at is not None else "?"
            self.wrong.append(f"{getattr(deed, '__name__', '?')}: {type(error).__name__} at {where}: {error}")

    def source(self, known: Known) -> Path:
        """Where its file is."""
        return self.home / "sources" / known.file

    def resolve(self) -> None:
        """Cut the same part as everybody, or any."""
        self.cut(self.chance.choice(shelf()), self.chance.choice([1, 2, self.chance.randrange(100)]))

    def cut(self, known: Known, number: int) -> None:
        """Cut one part, and hold the answer against the truth."""
        address = known.part(number)
        given = self.kit.resolve(address)
        self.wrong += wrong_with(given, known, address, self.source(known))

    def ingest_known(self) -> None:
        """Map a file again that is mapped."""
        known = self.chance.choice(shelf())
        found = self.kit.ingest(self.source(known), resource_id=known.name)
        if found.resource_id != known.name:
            self.wrong.append(f"{known.name} became {found.resource_id}")

    def ingest_new(self) -> None:
        """Map the file that all map now, under the id that its name gives, and cut from it."""
        known = text(f"new{int((time.time() - self.began) / NEW_EVERY):04d}_txt")
        path = self.home / "sources" / f"{known.name.removesuffix('_txt')}.txt"
        if not path.exists():
            mine = path.with_suffix(f".{self.chance.random()}")
            mine.write_bytes(known.data())
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(mine)  # whole, or not there
            mine.unlink()
        found = self.kit.ingest(path)
        if found.resource_id != known.name or found.source_path != str(path):
            self.wrong.append(f"{known.name} became {found.resource_id} of {found.source_path}")
        address = known.part(self.chance.randrange(4))
        self.wrong += wrong_with(self.kit.resolve(address), known, address, path)

    def come_and_go(self) -> None:
        """Map, cut and remove what others map and remove, too."""
        known = text(f"guest{self.chance.randrange(2)}")
        self.attempt(lambda: self.kit.ingest(self.source(known), resource_id=known.name), FOUND_AGAIN)
        self.attempt(lambda: self.cut(known, self.chance.randrange(3)), FOUND_AGAIN)
        if self.chance.random() < 0.3:
            self.attempt(lambda: self.kit.remove(known.name), FOUND_AGAIN)

    def read(self) -> None:
        """Search, list, and tell an agent."""
        name = self.chance.choice(shelf()).name
        if name not in self.kit.resources():
            self.wrong.append(f"{name} is not listed")
        self.kit.search("line")
        if name not in self.kit.context(name):
            self.wrong.append(f"{name} is not in the context")

    def verify(self) -> None:
        """Prove a piece of evidence."""
        known = text("letters")
        given = self.kit.resolve(known.part(1))
        verdict = self.kit.verify(given.output_path)  # type: ignore[arg-type]
        if not verdict.genuine:
            self.wrong.append(f"not genuine: {[each for each in verdict.checks if not each.passed]}")

    def verify_store(self) -> None:
        """Read every object."""
        healed = self.kit.app.evidence.verify().healed
        self.wrong += [f"{each} was damaged" for each in healed]

    def prune(self) -> None:
        """Make room."""
        self.kit.app.evidence.prune()

    def clear(self) -> None:
        """Drop all evidence."""
        if self.chance.random() < 0.2:
            self.kit.app.evidence.clear()

    def ask_library(self) -> None:
        """Take a book in, ask, take it out."""
        library, known = self.kit.library("shared"), text("guest2")
        path = self.source(known)
        self.attempt(lambda: library.ingest(path, title="Guest", author="Nobody"), OF_LIBRARY)
        self.attempt(lambda: library.ask("line 010", threshold=0.0), OF_LIBRARY)
        if self.chance.random() < 0.3:
            self.attempt(lambda: library.remove("guest2_txt"), OF_LIBRARY)

    def ask_server(self) -> None:
        """The same answers from a server of its own."""
        assert self.server is not None
        known = self.chance.choice([each for each in shelf() if each.kind == "text"])
        address = known.part(self.chance.randrange(4))
        shown = self.server.cut(address).read_text(encoding="utf-8")
        first = known.line(int(address.partition("=")[2].partition("-")[0]))
        if not shown.startswith(first):
            self.wrong.append(f"the server shows {shown[:40]!r} for {address}")


def main() -> None:
    """The plan says where, how long, with which seed."""
    plan: dict[str, Any] = json.loads(sys.argv[1])
    faulthandler.dump_traceback_later(plan["seconds"] + plan["patience"], exit=True)
    home = Path(plan["home"])
    kit = audited(home, Log(Path(plan["log"])), limit=plan["limit"], grace=plan["grace"])
    with _server(home, plan["serving"]) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        began = float(sys.stdin.readline())  # all begin at once
        worker = Worker(home, kit, Random(plan["seed"]), plan["limit"] is not None, server, began=began)
        worker.work(began + plan["seconds"], plan["library"])
    json.dump({"deeds": worker.deeds, "wrong": worker.wrong, "refused": worker.refused}, sys.stdout)


@contextlib.contextmanager
def _server(home: Path, wanted: bool) -> Iterator[Server | None]:
    if not wanted:
        yield None
        return
    with Server.of(home) as server:
        yield server


if __name__ == "__main__":
    main()
