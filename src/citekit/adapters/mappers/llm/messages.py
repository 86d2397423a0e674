"""Questions to a model and its replies, independent of the service, and the budget of requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from citekit.domain.errors import MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.progress import Progress


@frozen
class TextPart:
    """A text."""

    text: str


@frozen
class ImagePart:
    """A picture in the request; `label` describes it in words (`the picture at 12.5 s`)."""

    data: bytes
    media_type: str
    label: str = ""


@frozen
class FilePart:
    """A whole local file that the service gets as a file: a PDF, a recording, a picture."""

    path: Path
    media_type: str


Part = TextPart | ImagePart | FilePart


@frozen
class Turn:
    """A reply of the model, and the follow-up to it."""

    reply: Reply
    follow_up: str


@frozen
class Question:
    """One request: `system` is the system prompt, `parts` are the content in order (first the file, then the words).

    `schema` is the JSON Schema of the answer (a plain subset: object, array, string, number, integer, enum; no
    references). `turns` is the conversation after `parts`. A service sends it after the unchanged beginning, so that
    its prompt cache applies.
    """

    system: str
    parts: tuple[Part, ...]
    schema: Mapping[str, Any]
    turns: tuple[Turn, ...] = ()


@frozen(kw_only=True)
class Generation:
    """The user's settings for generation. None leaves a setting to the service, whose defaults suit its models best.

    `temperature` is 0 to 2, `thinking` one of `minimal`, `low`, `medium`, `high`, `xhigh`, `max_output` in tokens.
    """

    temperature: float | None = None
    thinking: str | None = None
    max_output: int | None = None


@frozen
class Usage:
    """The requests that reached the service, and the tokens as it counts them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@frozen
class Reply:
    """The model's reply. `complete` is False if it was cut off at the output limit.

    `notes` are sentences about the use of the service, such as that it got text instead of the file. `native` is the
    model's turn in the form of the service's SDK, for the next request (Gemini signs its thoughts); None if the text is
    enough.
    """

    text: str
    complete: bool
    usage: Usage
    notes: tuple[str, ...] = ()
    native: object = field(default=None, repr=False, eq=False)


@frozen(kw_only=True)
class Limits:
    """What a service takes of one format in one request. None means that no limit is known.

    The limits are `file_bytes` of one file, `pages` of a PDF, `seconds` of a recording, and `characters` of text.
    `as_file` says whether the service takes such files; otherwise it gets text and pictures.
    """

    as_file: bool
    file_bytes: int | None = None
    pages: int | None = None
    seconds: float | None = None
    characters: int | None = None


class NoReplyError(MapperUnavailable):
    """The service answered, and billed, but there is no answer: it refused, was blocked, or spent its output on thinking."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class Session(Protocol):
    """A conversation about one source. Its uploads are deleted when the session ends."""

    def ask(self, question: Question, progress: Progress) -> Reply:
        """The model's reply. Safe to call from several threads at once.

        Uploads each file among the parts once. Raises `MapperUnavailable`, whose message names the service, the status,
        and what to do; `Cancelled`.
        """


class Service(Protocol):
    """A service that runs a model."""

    @property
    def name(self) -> str:
        """The name in the metadata of maps: `gemini`, `openai`."""

    @property
    def model(self) -> str:
        """The name of the model at the service."""

    def limits(self, format: Format) -> Limits | None:
        """What the service takes of that format, or None if it cannot map such files."""

    def session(self) -> AbstractContextManager[Session]:
        """Start a conversation. Raises `MapperUnavailable`, which names the variables, if no key is set."""


class BudgetExhausted(MapperUnavailable):
    """The requests that one map may take are used up."""


@define
class Budget:
    """At most `limit` requests (None: no limit), counted over all threads."""

    limit: int | None = None
    spent: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def spend(self) -> None:
        """Count a request. Raises `BudgetExhausted` if none is left."""
        with self._lock:
            if self.limit is not None and self.spent >= self.limit:
                raise BudgetExhausted(
                    f"The limit of {self.limit} requests was reached before the map was finished. Allow more "
                    "(--max-requests), or map a smaller file."
                )
            self.spent += 1
