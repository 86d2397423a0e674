"""Sends one question to OpenAI or a compatible server, with retries, and without features that the server refuses."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen

from citekit.adapters.libraries import openai as driver
from citekit.adapters.libraries.service_keys import without_key
from citekit.adapters.mappers.llm.messages import Budget, Generation, NoReplyError, Question, Reply, charge
from citekit.adapters.mappers.llm.openai.capabilities import AnswerFormat, Capabilities, without_refused
from citekit.adapters.mappers.llm.openai.failures import BadResponseError, Endpoint, refusal, verdict
from citekit.adapters.mappers.llm.openai.messages import ChatMessages, MessageWriter
from citekit.adapters.mappers.llm.openai.strict_schema import may_match, strict, without_wrapping
from citekit.adapters.system.interruptible import attended
from citekit.adapters.system.retry import Retries, Verdict, tried
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk

_CHARACTERS_PER_TOKEN = 10
"""More characters per token than texts have (English: about 4).

A higher ratio means that the server did not read the whole request.
"""


@frozen(kw_only=True)
class SessionContext:
    """The client, the settings, and the budget that all questions of one session share."""

    endpoint: Endpoint
    client: OpenAI = field(repr=False)
    key: str | None = field(repr=False)
    retries: Retries
    budget: Budget
    extract_text: Callable[[Path], str] | None
    generation: Generation = field(factory=Generation)
    cache_key: str = field(factory=lambda: f"citekit-{secrets.token_hex(8)}")


class _UnsupportedError(Exception):
    """The server does not support a feature of the request. `capabilities` are the features that remain."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        super().__init__("The server does not support a part of the request.")


@define(kw_only=True)
class ChatRequest:
    """One question. Each feature that the server refuses is removed from `capabilities`."""

    context: SessionContext
    question: Question
    progress: Progress
    capabilities: Capabilities
    usage: Usage = field(factory=Usage)

    def reply(self) -> Reply:
        """Send the question and return the model's reply. Raise the errors of `Session.ask`."""
        context = self.context
        writer = MessageWriter(endpoint=context.endpoint, extract_text=context.extract_text)
        while True:
            written = writer.written(
                self.question, self.capabilities, temperature=context.generation.temperature is not None
            )
            try:
                completion = tried(partial(self._send, written), self._explain, context.retries, self.progress)
                return self._read(completion, written)
            except _UnsupportedError as unsupported:
                self.capabilities = unsupported.capabilities
            except BaseException as error:
                if self.usage.input_tokens or self.usage.output_tokens:
                    charge(error, self.usage)
                raise

    def _send(self, written: ChatMessages) -> Completion:
        context = self.context
        context.budget.spend()
        completion = Completion(context.key)
        self.progress(0, None, f"asking {context.endpoint.model}")
        try:
            return self._counted(
                attended(
                    partial(self._stream, self._request(written), completion),
                    lambda: self.progress(completion.length, None, f"asking {context.endpoint.model}"),
                )
            )
        except BadResponseError:
            self._counted(completion)
            raise
        except BaseException as error:
            if completion.tokens_in or completion.tokens_out:  # the service charges for an answer that broke off, too
                self._counted(completion)
                raise
            failure = driver.classify(error, context.key)
            if failure is not None and failure.status is not None:
                self.usage += Usage(requests=1)
                less = without_refused(self.capabilities, written.sent, failure, hosted=context.endpoint.hosted)
                if less is not None and less != self.capabilities:
                    raise _UnsupportedError(less) from error
            raise
        finally:
            completion.stop()  # the service should not generate an answer that nobody reads

    def _counted(self, completion: Completion) -> Completion:
        self.usage += completion.usage
        return completion

    def _stream(self, request: dict[str, Any], completion: Completion) -> Completion:
        """Send `request` and add the answer to `completion`. Some servers do not stream even on request.

        Raise `BadResponseError` if the answer reports an error or is malformed.
        """
        response = self.context.client.chat.completions.with_raw_response.create(**request)
        try:
            if "event-stream" in response.headers.get("content-type", ""):
                return completion.read_stream(response.parse())
            return completion.read_body(json.loads(response.http_response.read()))
        except ValueError as error:  # not only malformed JSON: Python rejects numbers with thousands of digits
            raise BadResponseError(
                driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message="the answer is not JSON")
            ) from error

    def _request(self, written: ChatMessages) -> dict[str, Any]:
        wanted, hosted = self.context.generation, self.context.endpoint.hosted
        request: dict[str, Any] = {"model": self.context.endpoint.model, "messages": written.messages, "stream": True}
        if self.capabilities.usage:
            request["stream_options"] = {"include_usage": True}
        if written.sent.temperature:
            request["temperature"] = wanted.temperature
        if wanted.thinking is not None:
            request["reasoning_effort"] = wanted.thinking
        if wanted.max_output is not None:  # OpenAI rejects the older name for newer models; other servers need it
            request["max_completion_tokens" if hosted else "max_tokens"] = wanted.max_output
        if hosted:
            request["store"] = False
            request["prompt_cache_key"] = self.context.cache_key  # follow-ups find the file in the same cache
        if self.capabilities.form is AnswerFormat.SCHEMA:
            form = {"name": "answer", "strict": True, "schema": strict(self.question.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.capabilities.form is AnswerFormat.JSON:
            request["response_format"] = {"type": "json_object"}
        return request

    def _explain(self, error: Exception) -> Verdict | None:
        context = self.context
        failure = error.failure if isinstance(error, BadResponseError) else driver.classify(error, context.key)
        return None if failure is None else verdict(context.endpoint, failure)

    def _read(self, completion: Completion, written: ChatMessages) -> Reply:
        """Return the reply in `completion`.

        Raise `NoReplyError` if the model refused or sent no text, or `_UnsupportedError` if a feature was ignored.
        """
        endpoint, text = self.context.endpoint, without_wrapping(completion.text)
        complete = completion.finish not in ("length", "")  # a stream that ends without a reason was cut off
        if completion.refusal or completion.finish == "content_filter":
            words = without_key(completion.refusal, self.context.key)
            raise NoReplyError(str(refusal(endpoint, words)), self.usage)
        if not text:
            raise NoReplyError(_empty_answer(endpoint, completion.finish), self.usage)
        self._check_taken(completion, written, text, complete)
        return Reply(text, complete, self.usage, written.notes + self._cut(completion, written))

    def _check_taken(self, completion: Completion, written: ChatMessages, text: str, complete: bool) -> None:
        """Raise `_UnsupportedError` if the server silently ignored a file (few input tokens) or a schema (another
        answer).

        If the answer has the form of the schema but is surrounded by other text, only lower the form for later
        requests.
        """
        tokens = completion.tokens_in
        held = written.characters + written.in_files
        if written.in_files and tokens and tokens * _CHARACTERS_PER_TOKEN < held:
            raise _UnsupportedError(evolve(self.capabilities, files=False))
        if self.capabilities.form is not AnswerFormat.SCHEMA:
            return
        if complete and not may_match(text, self.question.schema):
            raise _UnsupportedError(self.capabilities.lower_form())
        if not completion.text.lstrip().startswith("{"):
            self.capabilities = self.capabilities.lower_form()

    def _cut(self, completion: Completion, written: ChatMessages) -> tuple[str, ...]:
        tokens = completion.tokens_in
        if not tokens or tokens * _CHARACTERS_PER_TOKEN >= written.characters:
            return ()
        label = self.context.endpoint.label
        return (
            f"{label} counted only {tokens} tokens in {written.characters} characters, so it probably truncated the "
            "request to fit its context. Configure a longer context on the server.",
        )


def _empty_answer(endpoint: Endpoint, finish: str) -> str:
    happened, remedy = {
        "": ("ended its answer before it wrote any text", "Try again, or choose"),
        "length": (
            "stopped without an answer, probably because it used all of its output tokens for thinking",
            "Allow longer answers (CITEKIT_MAX_OUTPUT), let it think less (CITEKIT_THINKING), or choose",
        ),
    }.get(finish, ("returned an empty answer", "Choose"))
    return (
        f"The model {endpoint.model!r} at {endpoint.host or 'OpenAI'} {happened}. {remedy} another model "
        f"({endpoint.advice.model})."
    )


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
        """The model's text, which has `length` characters."""
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

        Raise `BadResponseError` if it reports an error or contains no choice.
        """
        for chunk in chunks:
            if self._stopped:
                return self
            # The SDK validates nothing: a chunk may be any JSON value, and so may each of its fields.
            self._add(chunk.to_dict(warnings=False) if hasattr(chunk, "to_dict") else {}, "delta")
        return self._checked()

    def read_body(self, body: object) -> Completion:
        """Add an answer that was sent as a whole and return this object.

        Raise `BadResponseError` if it reports an error or contains no message.
        """
        if not isinstance(body, Mapping):
            raise BadResponseError(
                driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message="the answer contains no message")
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
                driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message="the answer contains no message")
            )
        return self


def _content_text(content: object) -> str:
    """Return the text of a message's `content`. Some servers send a list of parts instead of a string."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
