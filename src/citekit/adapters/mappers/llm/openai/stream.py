"""Reads a chat completion that is streamed in chunks or sent as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.libraries import openai as driver
from citekit.adapters.mappers.llm.openai.failures import BadResponseError
from citekit.domain.model_usage import Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk


@define
class Completion:
    """A chat completion: the model's text, its refusal, the finish reason, and the tokens as the server counts them."""

    key: str | None = field(default=None, repr=False)
    length: int = 0
    refusal: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    has_choice: bool = False
    _stopped: bool = False
    _pieces: list[str] = field(factory=list)

    @property
    def text(self) -> str:
        """The model's text, whose number of characters is `length`. Adding each piece to one text would copy it."""
        return "".join(self._pieces)

    @property
    def usage(self) -> Usage:
        """The usage of the request: one request and its tokens."""
        return Usage(1, self.tokens_in, self.tokens_out)

    def stop(self) -> None:
        """Ignore all further chunks. Another thread may call this method while `read_stream` runs."""
        self._stopped = True

    def read_stream(self, chunks: Iterator[ChatCompletionChunk]) -> Completion:
        """Add the chunks of a streamed answer and return this object.

        Raise `BadResponseError` if the stream reports an error or contains no choice.
        """
        for chunk in chunks:
            if self._stopped:
                return self
            # The SDK validates nothing: a chunk may be any JSON value, and so may each of its fields.
            self._add(chunk.to_dict(warnings=False) if hasattr(chunk, "to_dict") else {}, "delta")
        return self._checked()

    def read_body(self, body: object) -> Completion:
        """Add an answer that was sent as a whole and return this object. Raise the same errors as `read_stream`."""
        if not isinstance(body, Mapping):
            raise BadResponseError(
                driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message="the answer has no choices")
            )
        self._add(body, "message")
        return self._checked()

    def _add(self, body: Mapping[str, Any], name: str) -> None:
        if body.get("error"):
            raise BadResponseError(driver.failure_in_body(body["error"], self.key))
        self._count(body.get("usage"))
        choices = body.get("choices")
        for choice in choices[:1] if isinstance(choices, list) else ():
            if not isinstance(choice, Mapping):
                continue
            if choice.get("error"):
                raise BadResponseError(driver.failure_in_body(choice["error"], self.key))
            said = choice.get(name)
            self.finish = _text(choice.get("finish_reason")) or self.finish
            if isinstance(said, Mapping):
                self.has_choice = True
                piece = _content_text(said.get("content"))
                self._pieces.append(piece)
                self.length += len(piece)
                self.refusal += _text(said.get("refusal"))

    def _count(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
            self.tokens_in, self.tokens_out = (max(0, count) if isinstance(count, int) else 0 for count in counts)

    def _checked(self) -> Completion:
        if not self.has_choice:
            raise BadResponseError(
                driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message="the answer has no choices")
            )
        return self


def _content_text(content: object) -> str:
    """Return the text of a message's `content`. Some servers send a list of parts instead of a string."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
