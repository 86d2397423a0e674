"""Creates error messages for failures of OpenAI or a compatible server."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from attrs import field, frozen

from citekit.adapters.libraries.openai import FailureKind, OpenAiFailure
from citekit.adapters.system.retry import TIMED_OUT, TRANSIENT, Verdict
from citekit.domain.errors import MapperUnavailable

DETAIL_LIMIT = 200
"""The maximum number of characters that are quoted from a message of the service or of an exception."""

_NO_CREDIT = re.compile(r"insufficient_quota|billing|insufficient credits|exceeded your current quota")
_TOO_LONG = re.compile(
    r"context_length_exceeded|context length|context window|maximum context|exceed_context|context size"
    r"|prompt is too long|too many tokens|string_above_max_length"
)
_REQUEST_TOO_LARGE = re.compile(r"request too large|tokens_limit")
_CONNECTION_LOST = re.compile(r"disconnected|closed connection|connection reset|reset by peer|broken pipe")
_UNTRUSTED = re.compile(r"certificate.verify.failed")
_REFUSED = re.compile(r"content_policy|content_filter|invalid_prompt|policy_violation|flagged|moderation")
_NO_MODEL = re.compile(
    r"model_not_found|model.{0,120}(not found|not exist|no access|unknown)|(unknown|invalid) model|no endpoints found for"
)


class BadResponseError(Exception):
    """A response with status 200 that reports an error or is malformed."""

    def __init__(self, failure: OpenAiFailure) -> None:
        self.failure = failure
        super().__init__(failure.message)


@frozen(kw_only=True)
class Advice:
    """What a user can change, for error messages.

    `user` is the feature that uses the server, and `offer` is the API that it needs. `model`, `url`, and `timeout` are
    names of settings. `slower` (with {} for the time to wait), `smaller`, and `without` say how to stay below the rate
    limit, how to send less, and how to do without a model.
    """

    user: str = "the openai mapper"
    offer: str = "chat completions"
    model: str = "--model"
    url: str = "--base-url"
    timeout: str = "--timeout"
    slower: str = "wait{}, or send fewer requests at the same time (--model-concurrency)"
    smaller: str = "Map a smaller file."
    without: str = "map without a model (--mapper local)"


@frozen(kw_only=True)
class Endpoint:
    """The model and the server, for error messages. `keyed` is whether an API key is sent.

    `base_url` is the URL of the server (None: OpenAI). `timeout` is in seconds.
    """

    model: str
    base_url: str | None = field(repr=False)
    timeout: float
    keyed: bool
    advice: Advice = field(factory=Advice, repr=False)

    @property
    def hosted(self) -> bool:
        """Whether the server is OpenAI itself, not a compatible server."""
        host = self.host.partition(":")[0]
        return self.base_url is None or host == "openai.com" or host.endswith(".openai.com")

    @property
    def host(self) -> str:
        """The host and port of the base URL, without a user name or password."""
        return urlsplit(self.base_url or "").netloc.rpartition("@")[2]

    @property
    def label(self) -> str:
        """The name of the service for the beginning of an error message."""
        if self.base_url is None:
            return "OpenAI"
        return f"OpenAI at {self.host}" if self.hosted else f"The OpenAI-compatible server at {self.host}"


def no_key(advice: Advice | None = None) -> MapperUnavailable:
    """Return the error for using OpenAI without an API key."""
    advice = advice or Advice()
    return MapperUnavailable(
        f"OpenAI needs an API key, but OPENAI_API_KEY is not set. Set it, use a server that needs no key ({advice.url}), "
        f"or {advice.without}."
    )


def refusal(endpoint: Endpoint, words: str, http: str = "") -> MapperUnavailable:
    """Return the error for a request that the model or a content filter refused, with the server's `words`.

    `http` is the HTTP status in parentheses, or "" if there was no HTTP error.
    """
    said = f": {_one_line(words)!r}" if words.strip() else ""
    return MapperUnavailable(
        f"{endpoint.label} rejected the request for the model {endpoint.model!r}{http and ' ' + http}{said}. Try "
        f"another model ({endpoint.advice.model}), or {endpoint.advice.without.replace('a model', 'one')}."
    )


def exceeds_context(failure: OpenAiFailure) -> bool:
    """Return whether the request failed because it was longer than the model's context."""
    return bool(_TOO_LONG.search(failure.words))


def concerns_account(failure: OpenAiFailure) -> bool:
    """Return whether the failure is about credit, the model's name, or forbidden content, and not about a feature."""
    return bool(_NO_CREDIT.search(failure.words) or _NO_MODEL.search(failure.words) or _REFUSED.search(failure.words))


def verdict(endpoint: Endpoint, failure: OpenAiFailure) -> Verdict:
    """Return the error to raise for `failure`, and whether and when the same request may be sent again."""
    if failure.kind is FailureKind.STATUS and failure.status is not None:
        sentence, transient = _status_sentence(endpoint, failure, failure.status)
    else:
        sentence, transient = _connection_sentence(endpoint, failure)
    timed_out = failure.kind is FailureKind.TIMEOUT or failure.status in TIMED_OUT
    return Verdict(MapperUnavailable(sentence), transient, failure.retry_after, timed_out)


def _connection_sentence(endpoint: Endpoint, failure: OpenAiFailure) -> tuple[str, bool]:
    label, said = endpoint.label, f" ({_one_line(failure.message)})" if failure.message.strip() else ""
    if failure.kind is FailureKind.TIMEOUT:
        return f"{label} sent no data for {endpoint.timeout:g} s. Increase {endpoint.advice.timeout}.", True
    if failure.kind is FailureKind.UNREACHABLE and _CONNECTION_LOST.search(failure.words):
        return f"The connection to {mid_sentence(label)} was lost{said}. Try again.", True
    if failure.kind is FailureKind.UNREACHABLE and _UNTRUSTED.search(failure.words):
        check = "" if endpoint.base_url is None else f", or check {endpoint.advice.url}"
        return (
            f"The certificate of {mid_sentence(label)} is not trusted{said}. Set SSL_CERT_FILE to the file with the "
            f"certificate of your certificate authority{check}.",
            False,
        )
    if failure.kind is FailureKind.UNREACHABLE:
        look = (
            "the network"
            if endpoint.base_url is None
            else f"that the server is running and that {endpoint.advice.url} is correct"
        )
        return f"{label} cannot be reached{said}. Check {look}.", not failure.lasting
    if failure.kind is FailureKind.SETUP:
        return f"{label} cannot be called{said}. Check the key and {endpoint.advice.url}.", False
    return f"{label} returned an answer that cannot be read{said}: {_address_advice(endpoint)}", False


def _address_advice(endpoint: Endpoint) -> str:
    if endpoint.base_url is None:
        return "try again later."
    return f"check that {endpoint.advice.url} is the address of an OpenAI-compatible API; it usually ends in /v1."


def _status_sentence(endpoint: Endpoint, failure: OpenAiFailure, status: int) -> tuple[str, bool]:
    label, http = endpoint.label, f"(HTTP {status})"
    said = f": {_one_line(failure.message)}" if failure.message.strip() else ""
    if status == 401:
        return _key_sentence(endpoint, http), False
    if status == 402 or (status in (403, 429) and _NO_CREDIT.search(failure.words)):
        return (
            f"{label} reports that the account has no credit left {http}. Add credit, or raise the spending limit "
            "of the account."
        ), False
    if status in (400, 413, 422) and exceeds_context(failure):
        return (
            f"The request exceeds the context of the model {endpoint.model!r}, according to {mid_sentence(label)} "
            f"{http}. Choose a model with a longer context ({endpoint.advice.model})"
            f"{'' if endpoint.hosted else ', or configure a longer context on the server'}.",
            False,
        )
    if status == 413 or (status == 429 and _REQUEST_TOO_LARGE.search(failure.words)):
        return f"{label} does not accept a request of that size {http}{said}. {endpoint.advice.smaller}", False
    if status == 429:
        wait = "" if failure.retry_after is None else f" {failure.retry_after:.0f} s"
        limited = "this key" if endpoint.keyed else "these requests"
        return f"{label} is rate-limiting {limited} {http}: {endpoint.advice.slower.format(wait)}.", True
    if status in (400, 403, 404, 422) and _NO_MODEL.search(failure.words):
        return (
            f"{label} has no model {endpoint.model!r}{' for this key' if endpoint.keyed else ''} {http}. Choose another "
            f"model ({endpoint.advice.model}).",
            False,
        )
    if status in (400, 403) and _REFUSED.search(failure.words):
        return str(refusal(endpoint, failure.message, http)), False
    if status == 403 and endpoint.keyed:
        return f"{label} does not permit this request with this key {http}{said}. Check the key's permissions.", False
    if status == 403:
        return f"{label} does not permit this request {http}{said}. If it requires a key, set OPENAI_API_KEY.", False
    if status == 404 and endpoint.base_url is None:
        return (
            f"{label} does not offer {endpoint.advice.offer} for the model {endpoint.model!r} {http}{said}. Choose another "
            f"model ({endpoint.advice.model}).",
            False,
        )
    if status in (404, 405):
        return (
            f"{label} does not offer {endpoint.advice.offer} at this address {http}: {_address_advice(endpoint)}",
            False,
        )
    if status // 100 == 3:
        return f"{label} answered with a redirect {http}, which is not followed: {_address_advice(endpoint)}", False
    if status in TRANSIENT:
        return f"{label} failed {http}{said}. Try again later.", True
    return f"{label} rejected the request {http}{said}.", False


def _key_sentence(endpoint: Endpoint, http: str) -> str:
    if endpoint.keyed:
        return f"{endpoint.label} does not accept the key {http}. Check OPENAI_API_KEY or OPENAI_API_KEY_FILE."
    return f"{endpoint.label} requires a key {http}. Set OPENAI_API_KEY."


def mid_sentence(label: str) -> str:
    """Return `label` (see `Endpoint.label`) as it is written inside a sentence."""
    return label[0].lower() + label[1:] if label.startswith("The ") else label


def _one_line(text: str) -> str:
    flat = " ".join(text.split()).rstrip(".")
    return flat if len(flat) <= DETAIL_LIMIT else f"{flat[: DETAIL_LIMIT - 3]}..."
