"""One operation in a home of its own: undisturbed first, then with a fault at a step, and what is wrong afterwards."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

from attrs import define, frozen

from tests.faults import checking
from tests.faults.checking import Look, State
from tests.faults.operations import ENVIRONMENT, HOUR, OLD, Operation, Place, make_inputs
from tests.faults.starting import Ended, Programs
from tests.faults.steps import NONE, Control, Fault, Step

QUESTION = ("query", "the tide in the evening", "--threshold", "0", "--limit", "3", "--json")


@define
class Workshop:
    """The folders, the page of faults, and the waiting program that all trials share."""

    folder: Path
    place: Place
    control: Control
    programs: Programs
    blocked: int = 0

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        """A workshop in memory where the system has such a folder, gone afterwards. Raises `OSError` without a compiler."""
        memory = Path("/dev/shm")
        folder = Path(mkdtemp(prefix="citekit-faults-", dir=memory if memory.is_dir() else None))
        folder.chmod(0o755)
        try:
            place = Place(folder / "inputs", folder / "home")
            control = Control.over(folder, place.home)
            (folder / "tmp").mkdir()
            environment = {**ENVIRONMENT, **control.environment, "TMPDIR": str(folder / "tmp")}
            make_inputs(place.inputs)
            programs = Programs.start(folder, environment)
            try:
                yield cls(folder, place, control, programs)
            finally:
                programs.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self, operation: Operation, words: tuple[str, ...] | None = None) -> Ended:
        """The operation's command, or another in its surroundings."""
        arguments = self.place.words(operation.command if words is None else words)
        return self.programs.run(arguments, operation.environment)

    def check(self, operation: Operation, words: tuple[str, ...] | None = None) -> Ended:
        """The same without worker processes: what they leave behind was tried before, and starting one takes most of a run."""
        arguments = self.place.words(operation.command if words is None else words)
        return self.programs.run(arguments, {**operation.environment, "CITEKIT_PARSERS": "inline"})

    def snapshot(self, operation: Operation) -> Path:
        """The home as it is before the operation, in a folder that is kept."""
        kept = self.folder / "kept"
        shutil.rmtree(self.place.home, ignore_errors=True)
        shutil.rmtree(kept, ignore_errors=True)
        self.place.home.mkdir()
        self.control.shift(OLD)
        operation.first(self.place)
        for words in operation.before:
            ended = self.programs.run(self.place.words(words))
            assert ended.code == 0, (operation.name, words, ended)
        self.place.home.rename(kept)
        return kept

    def anew(self, operation: Operation, kept: Path) -> None:
        """The home as it was, for one more trial."""
        shutil.rmtree(self.place.home, ignore_errors=True)
        subprocess.run(["cp", "-a", str(kept), str(self.place.home)], check=True)
        operation.prepare(self.place)
        self.control.shift(operation.later + OLD)
        for words in operation.just_before:
            assert self.run(operation, tuple(words)).code == 0

    def faulty(self, operation: Operation, fault: Fault) -> tuple[Ended, int, str]:
        """The command with that fault; how it ended, how many steps there were, and what went wrong (empty: nothing)."""
        self.control.arm(fault)
        ended = self.run(operation)
        counted, hit, what = self.control.disarm()
        return ended, counted, what if hit else ""


@frozen
class Undisturbed:
    """What the operation does when nothing goes wrong."""

    kept: Path
    steps: tuple[Step, ...]
    before: State
    after: State
    answer: object
    left: frozenset[str]
    torn: tuple[str, ...]
    middle: Mapping[str, Any]
    evicts: bool
    said: object

    @classmethod
    def of(cls, shop: Workshop, operation: Operation) -> Self:
        """Run it once."""
        kept = shop.snapshot(operation)
        middle = _middle(shop, operation)
        shop.anew(operation, kept)
        before = checking.look(shop.place.home)
        ended, _, _ = shop.faulty(operation, NONE)
        assert ended.code == 0, (operation.name, ended)
        steps = tuple(shop.control.steps())
        after = checking.look(shop.place.home)
        answer = _answer(shop, operation)
        shop.control.shift(operation.later + 2 * HOUR)
        shop.run(operation, ("cache", "verify"))
        left = frozenset(checking.leftovers(shop.place.home))
        return cls(
            kept,
            steps,
            before.state,
            after.state,
            answer,
            left,
            before.torn,
            middle,
            evicts="CITEKIT_CACHE_LIMIT" in operation.environment,
            said=checking.lasting(ended.plain) if operation.says else None,
        )


def _middle(shop: Workshop, operation: Operation) -> Mapping[str, Any]:
    shutil.rmtree(shop.place.home, ignore_errors=True)
    shop.place.home.mkdir()
    for words in operation.middle:
        assert shop.run(operation, tuple(words)).code == 0
    return checking.look(shop.place.home).state.maps


def after_fault(shop: Workshop, operation: Operation, usual: Undisturbed, *, mended: bool = False) -> list[str]:
    """What is wrong after a fault, in new processes: nothing torn or lost, and the same command gives the same.

    Where `mended`, a vector index may be damaged, if it is said how it is made again and that works.
    """
    home = shop.place.home
    seen = checking.look(home)
    torn = [each for each in seen.torn if each not in usual.torn]
    wrong = [*torn, *_lost(operation, usual, seen), *_unproven(shop, operation, seen)]
    again = shop.check(operation)
    if again.code is None:
        wrong.append("blocked")
    rebuilt = mended and "citekit library rebuild" in again.err
    if rebuilt:
        shop.check(operation, ("library", "rebuild"))
        again = shop.check(operation)
    done = checking.look(home)
    if (
        again.code != 0
        and seen.state != usual.after
        and "already ingested" not in again.err
        and "No map" not in again.err
    ):
        wrong.append(f"again: exit {again.code}: {again.err.strip()[-300:]}")
    wrong += [f"again: {each}" for each in (*done.torn, *_different(usual, done.state))]
    shown = _unsealed if rebuilt else _as_it_is
    if operation.says and again.code == 0 and shown(checking.lasting(again.plain)) != shown(usual.said):
        wrong.append(f"again: says {again.out[:300]}")
    answer = _answer(shop, operation)
    if shown(answer) != shown(usual.answer):
        wrong.append(f"again: answers {str(answer)[:300]}")
    return wrong + _uncleaned(shop, operation, usual)


def _lost(operation: Operation, usual: Undisturbed, seen: Look) -> Iterator[str]:
    for name, there in usual.before.maps.items():
        now = seen.state.maps.get(name)
        if now is None and name in usual.after.maps:
            yield f"the map {name} is lost"
        if now is not None and now not in (there, usual.after.maps.get(name)):
            yield f"the map {name} is neither the old nor the new one"
    for name, now in seen.state.maps.items():
        if name not in usual.before.maps and now not in (usual.after.maps.get(name), usual.middle.get(name)):
            yield f"the map {name} is not the new one"
    for digest in usual.before.books.keys() - seen.state.books.keys():
        yield f"the ledger forgot {digest}"
    copies = {*usual.before.copies.values(), *usual.after.copies.values()}
    yield from (f"the copy {name} is torn" for name, digest in seen.state.copies.items() if digest not in copies)
    yield from (f"the copy {name} is lost" for name in usual.before.copies.keys() - seen.state.copies.keys())
    known = {*usual.before.outputs.values(), *usual.after.outputs.values()}
    for name, digest in seen.state.outputs.items():
        if digest not in known:
            yield f"the output {name} is torn"
    for name in usual.before.outputs.keys() & usual.after.outputs.keys() - seen.state.outputs.keys():
        yield f"the output {name} is lost"


def _unproven(shop: Workshop, operation: Operation, seen: Look) -> Iterator[str]:
    """No file in the output folder is anything else than its receipt says, as `citekit verify` sees it."""
    for name in seen.state.outputs:
        said = shop.check(operation, ("verify", "--json", str(shop.place.home / checking.OUTPUT / name)))
        checks = {each["name"]: each["passed"] for each in said.plain.get("checks", ())}
        if operation.name == "cache verify":  # an object was damaged on purpose, and may not have been reached yet
            checks.pop("cache", None)
        if not checks or False in checks.values():
            yield f"verify {name}: {checks or said.err.strip()}"


def _different(usual: Undisturbed, done: State) -> Iterator[str]:
    """An eviction that was cut off goes on when the next object is made: until then others may still be there.

    Which go first hangs on the order in which the trial's copy of the home was written.
    """
    wanted = usual.after
    needed = wanted.objects - usual.before.objects if usual.evicts else wanted.objects
    if not needed <= done.objects <= wanted.objects | usual.before.objects:
        yield f"objects differ: {_short(wanted.objects)} became {_short(done.objects)}"
    for what in ("maps", "outputs", "receipts", "books", "copies"):
        if getattr(wanted, what) != getattr(done, what):
            yield f"{what} differ: {_short(getattr(wanted, what))} became {_short(getattr(done, what))}"


def _short(what: object) -> str:
    return str(sorted(what) if isinstance(what, dict | frozenset) else what)[:200]


def _as_it_is(answer: object) -> object:
    return answer


def _unsealed(answer: object) -> object:
    """Without the texts, which an index that was copied with its home does not show, and a rebuilt one does."""
    if isinstance(answer, dict):
        return {name: _unsealed(value) for name, value in answer.items() if name not in ("text", "foreign", "passage")}
    return [_unsealed(each) for each in answer] if isinstance(answer, list) else answer


def _answer(shop: Workshop, operation: Operation) -> object:
    if not (shop.place.home / checking.LIBRARY).exists():
        return None
    said = shop.check(operation, QUESTION)
    try:
        return [{"address": each.get("address"), "text": each.get("text")} for each in _hits(said.plain)]
    except (ValueError, AttributeError):
        return said.err


def _hits(plain: object) -> list[dict[str, object]]:
    if isinstance(plain, dict):
        return next(
            (value for value in plain.values() if isinstance(value, list) and value and isinstance(value[0], dict)), []
        )
    return []


def _uncleaned(shop: Workshop, operation: Operation, usual: Undisturbed) -> list[str]:
    shop.control.shift(operation.later + 2 * HOUR)
    shop.check(operation, ("cache", "verify"))
    if any("/" not in each for each in checking.leftovers(shop.place.home)):
        shop.check(operation)  # what lies beside a copy goes with the next one
    wrong = [f"left: {each}" for each in sorted(checking.leftovers(shop.place.home) - usual.left)][:3]
    return wrong + checking.databases(shop.place.home)
