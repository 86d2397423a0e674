"""The children that parse: started when there is work, asked one thing at a time, killed when they do not come back."""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.drivers.child_process import Child, ChildEndedError
from citekit.domain.errors import CiteKitError, FaultyAnswer, SourceUnsupported
from citekit.domain.progress import Progress, silent
from citekit.wire.failures import CAUSE_LIMIT, from_plain_error
from citekit.wire.parsed import as_message, message_from

LOOK = 0.1
"""Seconds after which `progress` learns that a child is still at work, and may end it."""

_NONSENSE = "the program that reads it gave an answer without sense"


class ParserBrokenError(RuntimeError):
    """A fault in our own code, in a child; the text is its traceback."""


@frozen
class Limits:
    """`seconds` that a child may work without a sign of progress; `output` is the size of a file in bytes."""

    seconds: float
    output: int


@define
class _Parser:
    child: Child
    last: str = ""
    state: object = None


@define(eq=False)
class Children:
    """At most `at_most` children. `hello` is the first message that each gets. Any thread may ask.

    `state` is what `hello` depends on: a child that was started in another one makes room for a fresh one. A process that is
    forked from this one starts its own.
    """

    _command: Callable[[], list[str]]
    _hello: Callable[[], Mapping[str, Any]]
    limits: Limits
    at_most: int = 4
    state: Callable[[], object] = lambda: None
    _idle: list[_Parser] = field(factory=list, init=False)
    _busy: int = field(default=0, init=False)
    _change: threading.Condition = field(factory=threading.Condition, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        _pools[id(self)] = self

    def ask(
        self,
        what: str,
        path: Path,
        arguments: Mapping[str, Any],
        progress: Progress = silent,
        failure: type[CiteKitError] = SourceUnsupported,
    ) -> Any:
        """What a child answers to `what`, asked of the file at `path`.

        Raises the child's own `CiteKitError`, what `progress` raises (the child is then killed), `failure` where the child
        dies over the file, or has to be killed, and `ParserBrokenError`.
        """
        message = as_message({"do": what, "output": self.limits.output, **arguments})
        try:
            said = self._asked(str(path), message, progress)
        except _DiedError as died:
            raise failure(f"{path.name} cannot be read: {died}.") from died
        match said:
            case {"done": done}:
                return done
            case {"short": str(short)}:
                raise failure(f"{path.name} cannot be read: {short[:CAUSE_LIMIT]}.")
            case {"broken": str(broken)}:
                raise ParserBrokenError(broken)
            case {"failed": {**failed}}:
                raise from_plain_error(failed)
        raise failure(f"{path.name} cannot be read: {_NONSENSE}.")

    def _asked(self, path: str, message: bytes, progress: Progress) -> Mapping[str, Any]:
        parser, is_fresh = self._taken(path, progress)
        try:
            said = self._answer(parser, message, progress, is_fresh=is_fresh)
        except BaseException:
            parser.child.kill()
            self._return(None)
            raise
        self._return(parser)
        return said

    def warm(self) -> None:
        """Have a child ready, so that the first work need not wait for it to start."""
        with suppress(_DiedError):
            parser, _ = self._taken("")
            self._return(parser)

    def close(self) -> None:
        """Let all children go that are not at work."""
        with self._change:
            idle, self._idle = self._idle, []
        for parser in idle:
            parser.child.kill()

    def forget(self) -> None:
        """Be as if none was ever started: in a process that was just forked, whose other threads are gone."""
        self._idle, self._busy, self._change = [], 0, threading.Condition()

    def _taken(self, path: str, progress: Progress = silent) -> tuple[_Parser, bool]:
        while not self._has_turn():
            progress(0.0, None, "")
        try:
            parser = self._rested(path)
            if parser is not None:
                return parser, False
            return _Parser(self._started(), path, self.state()), True
        except BaseException:
            self._return(None)
            raise

    def _has_turn(self) -> bool:
        with self._change:
            if not self._change.wait_for(lambda: self._busy < self.at_most, LOOK):
                return False
            self._busy += 1
            return True

    def _rested(self, path: str) -> _Parser | None:
        """A child that has no work: the one that had this file last, if any."""
        state = self.state()
        with self._change:
            parser = next((each for each in self._idle if each.last == path), self._idle[-1] if self._idle else None)
            if parser is not None:
                self._idle.remove(parser)
        if parser is not None and parser.state != state:
            parser.child.kill()
            return None
        if parser is not None:
            parser.last = path
        return parser

    def _return(self, parser: _Parser | None) -> None:
        with self._change:
            self._busy -= 1
            if parser is not None:
                self._idle.append(parser)
            self._change.notify()

    def _started(self) -> Child:
        try:
            child = Child.start(self._command())
            child.send(as_message(self._hello()))
        except (OSError, ChildEndedError) as error:
            raise _DiedError(f"the program that would read it cannot be started ({error})") from error
        return child

    def _answer(self, parser: _Parser, message: bytes, progress: Progress, *, is_fresh: bool) -> Mapping[str, Any]:
        try:
            parser.child.send(message)
            said = self._heard(parser.child, progress)
            if is_fresh or not {"short", "broken"} & set(said):
                return said
            parser.child.kill()
        except ChildEndedError as ended:
            if is_fresh:
                raise _DiedError(f"it made the program that reads it end ({ended.how})") from ended
        # It had just gone to rest, or files before this one have used it up: only a fresh one tells about this file.
        parser.child, parser.state = self._started(), self.state()
        return self._answer(parser, message, progress, is_fresh=True)

    def _heard(self, child: Child, progress: Progress) -> Mapping[str, Any]:
        shown: tuple[float, float | None, str] = (0.0, None, "")
        heard = monotonic()
        while True:
            answer = child.receive(1.0 if progress is silent else LOOK)
            if answer is not None:
                said, heard = _understood(answer), monotonic()
                if "progress" not in said:
                    return said
                shown = _progress(said["progress"])
            elif monotonic() - heard > self.limits.seconds:
                raise _DiedError(
                    f"no progress was made for {self.limits.seconds:g} s (CITEKIT_PARSER_TIMEOUT allows more)"
                )
            progress(*shown)


_pools: weakref.WeakValueDictionary[int, Children] = weakref.WeakValueDictionary()


def _forget_all() -> None:
    for pool in list(_pools.values()):
        pool.forget()


if hasattr(os, "register_at_fork"):  # behind that of the children themselves
    os.register_at_fork(after_in_child=_forget_all)


class _DiedError(Exception):
    """A child died over a file, or was killed because it did not come back; the text is a part of a sentence."""


def _understood(answer: bytes) -> dict[str, Any]:
    try:
        return message_from(answer)
    except FaultyAnswer as error:
        raise _DiedError(_NONSENSE) from error


def _progress(said: Any) -> tuple[float, float | None, str]:
    """What is told of progress. Who says anything else is not trusted with the rest of the work either."""
    try:
        done, total, text = said
        shown = (float(done), None if total is None else float(total), str(text)[:CAUSE_LIMIT])
    except (TypeError, ValueError, OverflowError) as error:
        raise _DiedError(_NONSENSE) from error
    if not math.isfinite(shown[0]) or not (shown[1] is None or math.isfinite(shown[1])):
        raise _DiedError(_NONSENSE)
    return shown
