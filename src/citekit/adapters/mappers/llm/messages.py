"""Questions to a model, its replies, and the budget of requests, for any service."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from citekit.domain.errors import MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress


@frozen
class TextPart:
    """A text in a request."""

    text: str


@frozen
class ImagePart:
    """A picture in a request. `label` describes it in words, such as `the picture at 12.5 s`."""

    data: bytes
    media_type: str
    label: str = ""


@frozen
class SoundPart:
    """A short recording that is sent in the request itself."""

    data: bytes
    media_type: str


@frozen
class FilePart:
    """A local file that is sent to the service as a whole."""

    path: Path
    media_type: str


Part = TextPart | ImagePart | SoundPart | FilePart


@frozen
class Turn:
    """A reply of the model and the follow-up that is sent to it."""

    reply: Reply
    follow_up: str


@frozen
class Question:
    """One request. `system` is the system prompt, and `parts` are the content.

    `schema` is the JSON Schema of the answer (only objects, arrays, strings, numbers, integers, and enums, without
    references). `turns` is the conversation so far, sent after `parts`, so that the service can cache the beginning of
    the request.
    """

    system: str
    parts: tuple[Part, ...]
    schema: Mapping[str, Any]
    turns: tuple[Turn, ...] = ()


@frozen(kw_only=True)
class Generation:
    """The user's generation settings. A setting that is None is left to the service.

    `temperature` is 0 to 2. `thinking` is `minimal`, `low`, `medium`, `high`, or `xhigh`. `max_output` is in tokens.
    """

    temperature: float | None = None
    thinking: str | None = None
    max_output: int | None = None


@frozen
class Reply:
    """The model's reply. `complete` is False if it was cut off.

    `notes` are sentences about how the service was used. `native` is the model's turn as an object of the service's
    SDK, to send with the next request (Gemini signs its thoughts), or None.
    """

    text: str
    complete: bool
    usage: Usage
    notes: tuple[str, ...] = ()
    native: object = field(default=None, repr=False, eq=False)


@frozen(kw_only=True)
class Limits:
    """How much of a file of one format a service accepts in one request. None means that no limit is known.

    `as_file` is whether the service accepts files of this format; otherwise, it gets text and pictures.
    """

    as_file: bool
    file_bytes: int | None = None
    pages: int | None = None
    seconds: float | None = None
    characters: int | None = None


class NoReplyError(MapperUnavailable):
    """The service replied and charged for the request, but gave no answer, for example because a filter blocked it."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


def charge(error: BaseException, usage: Usage) -> None:
    """Record in `error` the usage of replies that arrived before it was raised."""
    error.__dict__["charged"] = usage


def charged(error: BaseException) -> Usage:
    """Return the usage of replies that arrived before `error` was raised."""
    usage = error.usage if isinstance(error, NoReplyError) else error.__dict__.get("charged")
    return usage if isinstance(usage, Usage) else Usage()


def without_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Session(Protocol):
    """The requests to a model about one task, such as mapping a file. Uploads are deleted when the session ends."""

    def ask(self, question: Question, progress: Progress) -> Reply:
        """Send a question and return the model's reply. Several threads can call this method at once.

        Raise `MapperUnavailable` if the service fails, `SourceUnreadable` if a file to send cannot be read, or
        `Cancelled` if the user cancels.
        """


class Service(Protocol):
    """A service that runs a language model and answers questions about files."""

    @property
    def name(self) -> str:
        """The name of the service in the metadata of maps, such as `gemini` or `openai`."""

    @property
    def model(self) -> str:
        """The name by which the service knows the model."""

    def limits(self, format: Format) -> Limits | None:
        """Return what the service accepts of a format in one request; None if it cannot map files of this format."""

    def session(self) -> AbstractContextManager[Session]:
        """Start a conversation. Raise `MapperUnavailable` if a required API key is missing or malformed."""


class BudgetExhausted(MapperUnavailable):
    """The limit on requests was reached before the map or the answer was finished."""


class Spending(Protocol):
    """Counts requests, or what they send, up to a limit."""

    def spend(self) -> None:
        """Count the next request. Raise `BudgetExhausted` if it would exceed the limit."""


@define
class Budget:
    """A limit on requests (None: no limit). `spent` counts the requests of all threads."""

    limit: int | None = None
    spent: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def spend(self) -> None:
        """See `Spending.spend`."""
        with self._lock:
            if self.limit is not None and self.spent >= self.limit:
                raise BudgetExhausted(
                    f"The limit on requests ({self.limit}) was reached before the map was complete. Allow more "
                    "requests (--max-requests), or map a smaller file."
                )
            self.spent += 1
