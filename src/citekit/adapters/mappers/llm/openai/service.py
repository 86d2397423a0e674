"""A model service for OpenAI and compatible servers: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter.

It uses chat completions, which compatible servers have in common, instead of the newer Responses API. Files are sent
inside the request, so nothing has to be deleted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import define, field, frozen

from citekit.adapters.libraries import openai as driver
from citekit.adapters.mappers.llm.messages import Budget, Generation, Limits, Question, Reply, Session
from citekit.adapters.mappers.llm.openai.capabilities import Capabilities
from citekit.adapters.mappers.llm.openai.failures import Advice, Endpoint, no_key, verdict
from citekit.adapters.mappers.llm.openai.messages import FILE_BYTES, PDF
from citekit.adapters.mappers.llm.openai.requests import ChatRequest, SessionContext
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import DriverMissing, MapperUnavailable
from citekit.domain.formats import Format
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from openai import OpenAI

DEFAULT_MODEL = "gpt-6.1-terra"
"""A model with vision and structured outputs, with a context of 1,050,000 tokens, at half the price of the next larger
model."""

_IMAGE_FORMATS = frozenset({"jpeg", "png", "webp"})
"""Formats that the API accepts unchanged. It also accepts GIF, but without animation."""


@define(kw_only=True)
class _LearnedCapabilities:
    """The capabilities of a server, learned from the requests that it refused, for all sessions."""

    capabilities: Capabilities = field(factory=Capabilities)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def add(self, capabilities: Capabilities) -> None:
        with self._lock:
            self.capabilities = self.capabilities & capabilities


def _trimmed(key: str | None) -> str | None:
    return (key or "").strip() or None


@frozen
class OpenAiService:
    """OpenAI or a compatible server as a model service.

    `base_url` is the URL of the server (None: OpenAI). `timeout` is in seconds. `max_requests` limits the requests of
    one session (None: no limit). `extract_text` returns the text of a PDF, page by page, for servers that do not accept
    files; "" if no page has text, so that the model does not invent a map from page numbers. `url_setting` names the
    option or variable with the base URL.
    """

    key: str | None = field(repr=False, converter=_trimmed)
    model: str = DEFAULT_MODEL
    base_url: str | None = field(default=None, repr=False)
    timeout: float = 300.0
    retries: Retries = field(factory=Retries, repr=False)
    max_requests: int | None = None
    extract_text: Callable[[Path], str] | None = field(default=None, repr=False)
    generation: Generation = field(factory=Generation)
    url_setting: str = "--base-url"
    _learned: _LearnedCapabilities = field(factory=_LearnedCapabilities, init=False, repr=False, eq=False)

    @property
    def name(self) -> str:
        """See `Service.name`. It is `openai` for compatible servers, too."""
        return "openai"

    @property
    def endpoint(self) -> Endpoint:
        """The model and the server, for error messages."""
        return Endpoint(
            model=self.model,
            base_url=self.base_url,
            timeout=self.timeout,
            keyed=self.key is not None,
            advice=Advice(url=self.url_setting),
        )

    def limits(self, format: Format) -> Limits:
        """See `Service.limits`.

        OpenAI accepts 50 MB of files ("File inputs"), and doubles its price above 272,000 tokens, so it gets at most
        100 pages and 400,000 characters. The context of other servers is unknown and often small.
        """
        hosted = self.endpoint.hosted
        characters = 400_000 if hosted else 100_000
        if format.media_type == PDF:
            return Limits(as_file=True, file_bytes=FILE_BYTES, pages=100 if hosted else 40, characters=characters)
        if format.modality is Modality.IMAGE and format.name in _IMAGE_FORMATS:
            return Limits(as_file=True, file_bytes=FILE_BYTES, characters=characters)
        return Limits(as_file=False, characters=characters)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """See `Service.session`. Also raise `MapperUnavailable` if the URL is malformed, or `DriverMissing` if the SDK
        is not installed.
        """
        if self.key is None and self.endpoint.hosted:
            raise no_key()
        check_settings(self.endpoint, self.key)
        try:
            client = driver.connect(self.key, self.base_url, self.timeout)
        except DriverMissing:
            raise
        except Exception as error:
            failure = driver.classify(error, self.key)
            if failure is None:
                raise
            raise verdict(self.endpoint, failure).error from error
        with client:
            yield _OpenAiSession(context=self._talk(client), learned=self._learned)

    def _talk(self, client: OpenAI) -> SessionContext:
        return SessionContext(
            endpoint=self.endpoint,
            client=client,
            key=self.key,
            retries=self.retries,
            budget=Budget(self.max_requests),
            extract_text=self.extract_text,
            generation=self.generation,
        )


@frozen(kw_only=True)
class _OpenAiSession:
    context: SessionContext
    learned: _LearnedCapabilities

    def ask(self, question: Question, progress: Progress) -> Reply:
        chat = ChatRequest(
            context=self.context, question=question, progress=progress, capabilities=self.learned.capabilities
        )
        reply = chat.reply()
        self.learned.add(chat.capabilities)
        return reply


def check_settings(endpoint: Endpoint, key: str | None) -> None:
    """Raise `MapperUnavailable` if the key or the URL is malformed."""
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise MapperUnavailable(
            "The API key in OPENAI_API_KEY or OPENAI_API_KEY_FILE contains characters that are not allowed in a key. Copy it "
            "again."
        )
    if endpoint.base_url is not None and not _is_http_url(endpoint.base_url):
        raise MapperUnavailable(
            f"The base URL for {endpoint.advice.user} ({endpoint.advice.url}) is not valid. It must begin with http:// or "
            "https://, and usually ends in /v1, as in http://localhost:11434/v1."
        )


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port
        return False
