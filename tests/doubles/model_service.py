"""A model service with scripted replies, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, field

from citekit.adapters.mappers.llm.messages import Limits, Question, Reply, Session
from citekit.domain.errors import MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress

Line = str | Reply | Exception
Script = Sequence[Line] | Callable[[Question], Line]


@define
class ScriptedService:
    """A model service that replies with the items of `script` in order, or with what `script` returns for a question.

    An item is a text, a `Reply`, or an error to raise. `limits_of` are the limits of every format, or a function of the
    format. `questions` records the questions, `sessions` counts the conversations, and `open_sessions` counts those
    that have not ended.
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
        """Return the configured limits for the format."""
        return self.limits_of(format) if callable(self.limits_of) else self.limits_of

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a conversation, which continues the script where the previous one ended."""
        self.sessions += 1
        self.open_sessions += 1
        try:
            yield self
        finally:
            self.open_sessions -= 1

    def ask(self, question: Question, progress: Progress) -> Reply:
        """Return the next reply of the script, or raise it if it is an error.

        Raise `MapperUnavailable` if the script has ended.
        """
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
            raise MapperUnavailable("The scripted model has no more answers.")
        return self.script[len(self.questions)]


def _tokens(question: Question) -> int:
    return sum(len(getattr(part, "text", "")) for part in question.parts) // 4
