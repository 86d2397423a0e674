"""A source that changes at a moment while it is read, cut or mapped; and clocks that jump."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from attrs import define, frozen

from citekit import CiteKit
from citekit.container import bootstrap
from citekit.domain.errors import SourceChanged, SourceMoved, SourceUnreadable, SourceUnsupported
from tests.faults.crowd import AREA
from tests.faults.table import Row
from tests.faults.truth import Known, text, wrong_with

TOLD = (SourceChanged, SourceMoved, SourceUnreadable, SourceUnsupported)
"""What may be said of a source that changes while it is read."""

Act = Callable[[], object]


def nothing() -> None:
    """No change at that moment."""


HANGS = 10
"""Seconds after which work on a small file hangs."""


@define
class Hooked:
    """An adapter one of whose methods has something happen before and after it, once."""

    inner: Any
    method: str
    before: Act = nothing
    after: Act = nothing

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self.inner, name)
        if name != self.method:
            return inner

        def hooked(*args: Any, **named: Any) -> Any:
            before, self.before = self.before, nothing
            after, self.after = self.after, nothing
            before()
            try:
                return inner(*args, **named)
            finally:
                after()

        return hooked


@frozen
class Moment:
    """What happens to a source before the extractor or mapper reads it, and after that."""

    name: str
    before: Callable[[Known, Path], object]
    after: Callable[[Known, Path], object] = lambda _known, _path: None


def edited(edition: int) -> Callable[[Known, Path], None]:
    """Other bytes in the same file, which looks the same but for the time at which its inode changed."""

    def act(known: Known, path: Path) -> None:
        status = path.stat()
        with path.open("r+b") as file:
            file.write(known.data(edition))
            file.truncate()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    return act


def renamed(edition: int) -> Callable[[Known, Path], None]:
    """Another file of that name, with the times of the old one."""

    def act(known: Known, path: Path) -> None:
        status, new = path.stat(), path.with_name("new")
        new.write_bytes(known.data(edition))
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        new.replace(path)

    return act


def _kept_aside(known: Known, path: Path) -> None:
    path.rename(path.with_name("aside"))
    path.write_bytes(known.data(1))


def _from_aside(_known: Known, path: Path) -> None:
    path.with_name("aside").replace(path)


def _pipe(_known: Known, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(_known: Known, path: Path) -> None:
    path.unlink()
    path.mkdir()


def _cut_short(_known: Known, path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _grown(_known: Known, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more\n")


MOMENTS = (
    Moment("edited", edited(1)),
    Moment("replaced", renamed(1)),
    Moment("edited, and edited back", edited(1), edited(0)),
    Moment("replaced, and put back", _kept_aside, _from_aside),
    Moment("replaced, and replaced by its copy", renamed(1), renamed(0)),
    Moment("cut short", _cut_short),
    Moment("cut short, and whole again", _cut_short, edited(0)),
    Moment("grown", _grown),
    Moment("deleted", lambda _known, path: path.unlink()),
    Moment("a pipe", _pipe),
    Moment("a folder", _folder),
    Moment("edited afterwards", lambda _known, _path: None, edited(1)),
    Moment("replaced afterwards", lambda _known, _path: None, renamed(1)),
)


def at_moment(home: Path, known: Known, moment: Moment, work: str) -> Iterator[str]:
    """What is wrong with what came of the work, or is kept of it."""
    path = known.write(home / "sources")
    _old(path)
    before, after = (lambda: moment.before(known, path)), (lambda: moment.after(known, path))
    plain = bootstrap(home=home)
    kit = CiteKit(home)
    if work == "cut":
        kit.ingest(path, resource_id=known.name)
        hooked = [Hooked(each, "extract", before, after) for each in plain.extractors]
        kit = CiteKit(home, extractors=hooked)
        act: Act = lambda: _answered(kit, known, path)  # noqa: E731
    else:
        kit = CiteKit(home, mapper=Hooked(plain.local_mapper, "map", before, after))
        act = lambda: kit.ingest(path, resource_id=known.name)  # noqa: E731
    try:
        with bounded():
            faults = act()
    except TOLD:
        faults = []
    except Exception as error:
        faults = [f"{type(error).__name__}: {error}"]
    yield from faults if isinstance(faults, list) else []
    yield from _believed(home, known, path)
    yield from _put_right(home, known, path)


@contextmanager
def bounded() -> Iterator[None]:
    """Work that must not wait for what never comes, such as the other end of a pipe."""

    def late(_number: int, _frame: object) -> None:
        raise AssertionError(f"not done after {HANGS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _answered(kit: CiteKit, known: Known, path: Path) -> list[str]:
    return list(wrong_with(kit.resolve(known.part(3)), known, known.part(3), path))


def _believed(home: Path, known: Known, path: Path) -> Iterator[str]:
    """A map that says it is of the right bytes has to be like one of these bytes."""
    kit = CiteKit(home)
    if known.name not in kit.resources():
        return
    found, other = kit.map(known.name), path.with_name(f"true-{known.file}")
    digest = found.source_digest
    for edition in (0, 1):
        other.write_bytes(known.data(edition))
        true = kit.ingest(other, resource_id=f"true{edition}", force=True)
        if digest == true.source_digest and [node.id for node in found.nodes] != [node.id for node in true.nodes]:
            yield "the map is of other bytes than it says"


def _put_right(home: Path, known: Known, path: Path) -> Iterator[str]:
    """With the source back as it was everything is."""
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    known.write(path.parent)
    kit = CiteKit(home)
    kit.ingest(path, resource_id=known.name, force=True)
    yield from (f"afterwards {each}" for each in _answered(kit, known, path))


def _old(path: Path) -> None:
    past = time.time() - 86400
    os.utime(path, (past, past))


@define
class Jumping:
    """A `Clock` that is ahead of the machine's, or behind."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


JUMPS = (
    timedelta(days=-3650),
    timedelta(days=3650),
    timedelta(hours=-1),
    timedelta(seconds=-30),
    timedelta(days=36500),
)


def jumped(home: Path, jump: timedelta) -> Iterator[str]:
    """What is wrong when the clock jumps and comes back, for a program that runs meanwhile, and for another."""
    known, clock = text("letters"), Jumping()
    path = known.write(home / "sources")
    kit = CiteKit(home, clock=clock)
    kit.ingest(path, resource_id=known.name)
    real = time.time
    for ahead in (timedelta(), jump, timedelta()):
        clock.ahead = ahead
        with mock.patch("time.time", lambda ahead=ahead: real() + ahead.total_seconds()):
            for each in (kit, CiteKit(home, clock=clock)):
                yield from (f"by {ahead}: {fault}" for fault in _answered(each, known, path))
                time.sleep(0.06)
                yield from (f"by {ahead}: {fault}" for fault in _answered(each, known, path))
            edited(1)(known, path)
            yield from _unnoticed(kit, known, ahead)
            edited(0)(known, path)
            yield from (f"by {ahead}: {fault}" for fault in _answered(kit, known, path))
            if kit.app.evidence.verify().healed:
                yield f"by {ahead}: an object was damaged"
            kit.app.evidence.prune()
    kit.app.evidence.clear()
    if kit.app.evidence.stats().objects:
        yield "something was not cleared"
    yield from _answered(kit, known, path)


def _unnoticed(kit: CiteKit, known: Known, ahead: timedelta) -> Iterator[str]:
    try:
        kit.resolve(known.part(3))
    except SourceChanged:
        return
    yield f"by {ahead}: a change of the source was not noticed"


def rows() -> Sequence[Row]:
    """Every moment for every kind of work and source, and every jump."""
    kinds = (text("letters"), Known("book", "doc"), Known("plan", "image"))
    works = [(work, known, moment) for work in ("cut", "map") for known in kinds for moment in MOMENTS]
    changed = [
        (f"{known.kind} {moment.name} while it is {work}", _in_home(lambda home: at_moment(home, known, moment, work)))  # noqa: B023
        for work, known, moment in works
    ]
    jumps = [(f"by {jump}", _in_home(lambda home: jumped(home, jump))) for jump in JUMPS]  # noqa: B023
    return [_row("sources changed while they are read", changed), _row("clocks that jump and come back", jumps)]


def _in_home(act: Callable[[Path], Iterator[str]]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
        return list(act(Path(folder)))


def _row(what: str, found: Sequence[tuple[str, list[str]]]) -> Row:
    wrong = [f"{name}: {faults[0]}" for name, faults in found if faults]
    return Row(AREA, what, len(found), len(found) - len(wrong), " / ".join(wrong))
