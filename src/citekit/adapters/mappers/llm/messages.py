"""What is said to a model, and what it says back, whatever service it runs at.

How many requests one map may take.
"""

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
    """Words."""

    text: str


@frozen
class ImagePart:
    """A picture that is sent along; `label` says in words what it shows (`the picture at 12.5 s`)."""

    data: bytes
    media_type: str
    label: str = ""


@frozen
class FilePart:
    """A whole file on this computer, which the service gets as a file: a PDF, a recording, a picture."""

    path: Path
    media_type: str


Part = TextPart | ImagePart | FilePart


@frozen
class Turn:
    """What the model answered, and what it is told then."""

    reply: Reply
    follow_up: str


@frozen
class Question:
    """One request: `system` says who the model is, `parts` what it is asked, in order: what is shown, then the words.

    `schema` is the JSON Schema (a plain subset: object, array, string, number, integer, enum; no references) that the
    answer has to fit. `turns` is the conversation since `parts` were asked; a service repeats it as such, behind the same
    beginning, so that its cache of prompts knows the file.
    """

    system: str
    parts: tuple[Part, ...]
    schema: Mapping[str, Any]
    turns: tuple[Turn, ...] = ()


@frozen(kw_only=True)
class Generation:
    """How the user wants the model to answer. None leaves a choice to the service, whose defaults suit its models best.

    `temperature` is 0 to 2, `thinking` one of `minimal`, `low`, `medium`, `high`, `xhigh`, `max_output` in tokens.
    """

    temperature: float | None = None
    thinking: str | None = None
    max_output: int | None = None


@frozen
class Usage:
    """What was spent: requests that reached the service, and tokens as it counts them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@frozen
class Reply:
    """What the model said. `complete` is False where it was cut off at its limit of output.

    `notes` are sentences about how the service was used, such as that it took text instead of the file. `native` is the
    model's turn as the service's SDK gives it, for the next request (Gemini signs its thoughts); None if the text is all.
    """

    text: str
    complete: bool
    usage: Usage
    notes: tuple[str, ...] = ()
    native: object = field(default=None, repr=False, eq=False)


@frozen(kw_only=True)
class Limits:
    """What a service takes of one format in one request. None: no limit is known.

    `file_bytes` of one file, `pages` of a PDF, `seconds` of a recording, `characters` of text. `as_file` says whether the
    service sees such a file itself; else it is told of it in text and pictures.
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
    """Talk about one source. What was uploaded for it is deleted when the session ends."""

    def ask(self, question: Question, progress: Progress) -> Reply:
        """The model's reply. Safe to call from several threads at once.

        Uploads the files among the parts, each once. Raises `MapperUnavailable`, whose sentence names the service, the
        status, and what to do; `Cancelled`.
        """


class Service(Protocol):
    """A place where a model runs."""

    @property
    def name(self) -> str:
        """As it stands in a map's metadata: `gemini`, `openai`."""

    @property
    def model(self) -> str:
        """The model's name there."""

    def limits(self, format: Format) -> Limits | None:
        """What it takes of that format, or None where it cannot map such files at all."""

    def session(self) -> AbstractContextManager[Session]:
        """A conversation. Raises `MapperUnavailable` where no key is set, saying which variables were looked for."""


class BudgetExhausted(MapperUnavailable):
    """The requests that one map may take are used up."""


@define
class Budget:
    """At most `limit` requests (None: no bound), counted over all threads."""

    limit: int | None = None
    spent: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def spend(self) -> None:
        """Count a request. Raises `BudgetExhausted` if none is left."""
        with self._lock:
            if self.limit is not None and self.spent >= self.limit:
                raise BudgetExhausted(
                    f"The budget of {self.limit} requests is used up before the map was finished: "
                    "allow more (--max-requests), or map a smaller file."
                )
            self.spent += 1
