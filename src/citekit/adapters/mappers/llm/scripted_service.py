"""A service that says what it was told to say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, field

from citekit.adapters.mappers.llm.messages import Limits, Question, Reply, Session, Usage
from citekit.domain.errors import MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.progress import Progress

Line = str | Reply | Exception
Script = Sequence[Line] | Callable[[Question], Line]


@define
class ScriptedService:
    """Gives the lines of `script` in order (a text, a whole reply, or an error to raise), or what it makes of a question.

    `limits_of` is what it takes of every format, or says so for each. Remembers in `questions` what it was asked, in
    `sessions` how many conversations were begun, in `open_sessions` how many of them have not ended.
    """

    script: Script
    limits_of: Limits | Callable[[Format], Limits | None] = field(factory=lambda: Limits(as_file=True))
    name: str = "scripted"
    model: str = "script"
    boxes: str = "bbox"
    questions: list[Question] = field(factory=list)
    sessions: int = 0
    open_sessions: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def limits(self, format: Format) -> Limits | None:
        """As it was told."""
        return self.limits_of(format) if callable(self.limits_of) else self.limits_of

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A conversation that goes on with the script where the last one left it."""
        self.sessions += 1
        self.open_sessions += 1
        try:
            yield self
        finally:
            self.open_sessions -= 1

    def ask(self, question: Question, progress: Progress) -> Reply:
        """The next line of the script. Raises `MapperUnavailable` where it has come to its end."""
        progress(0, None, "asking the script")
        with self._lock:
            line = self._next(question)
            self.questions.append(question)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else Reply(line, True, Usage(1, _tokens(question), len(line) // 4))

    def _next(self, question: Question) -> Line:
        if callable(self.script):
            return self.script(question)
        if len(self.questions) >= len(self.script):
            raise MapperUnavailable("The script has no further line.")
        return self.script[len(self.questions)]


def _tokens(question: Question) -> int:
    return sum(len(getattr(part, "text", "")) for part in question.parts) // 4
