"""An embedder that uses OpenAI or a compatible server: Ollama, LM Studio, vLLM, llama.cpp, TEI."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import field, frozen

from citekit.adapters.libraries import openai as driver
from citekit.adapters.libraries.openai import FailureKind, OpenAiFailure
from citekit.adapters.search.embedders.service import Limits, as_long_as, embedded, trimmed
from citekit.adapters.search.embedders.texts import Prompts
from citekit.adapters.system.lazy import Once
from citekit.adapters.system.retry import TRANSIENT, Retries, Verdict, asked
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from openai import OpenAI


_QUOTED = 300


@frozen(kw_only=True)
class Place:
    """The model and the server, for error messages. `base_url` is the URL of the server (None: OpenAI).

    `timeout` is in seconds. `key_variable` names the variable with the API key.
    """

    model: str
    base_url: str | None = field(repr=False)
    timeout: float
    key_variable: str = "OPENAI_API_KEY"

    @property
    def who(self) -> str:
        """The name of the service in error messages."""
        return f"The server at {self.base_url}" if self.base_url else "OpenAI"


STATUSES = {
    400: "rejected the request{said}: check that '{model}' is an embedding model",
    401: "rejected the API key, or requires one{said}: check {variable}",
    403: "does not permit this request with the API key{said}: check the project of the key, and the model '{model}'",
    404: "has no embedding model '{model}'{said}: choose another (CITEKIT_EMBEDDER){address}",
    408: "did not finish in time{said}: try again later",
    413: "rejected the request as too large{said}: choose another model, or raise the limit of the server",
    422: "rejected the request{said}: check that '{model}' is an embedding model",
    429: "reports that a rate limit or quota is reached{said}: wait, or raise the limit",
}
"""The message for each HTTP status. For other statuses, `_OTHER` has a message for each first digit."""

_OTHER = {
    3: "answered with a redirect{said}: check the address",
    4: "rejected the request{said}: check the model '{model}'",
    5: "failed{said}: try again later",
}
_NO_CREDIT = (
    "reports that the account has no credit left{said}: add credit, or choose another embedder (CITEKIT_EMBEDDER)"
)


def verdict(place: Place, trouble: OpenAiFailure) -> Verdict:
    """Return the CiteKit error for a failed request, and whether and when to retry."""
    if trouble.kind is FailureKind.STATUS:
        return _of_status(place, trouble)
    look = "check the network"
    if place.base_url:
        look = "check the network, the address, and that the server is running"
    sentence = {
        FailureKind.TIMEOUT: f"did not answer within {place.timeout:g} s: try again later",
        FailureKind.UNREACHABLE: f"is not reachable ({trouble.message[:_QUOTED]}): {look}",
        FailureKind.UNREADABLE: (
            f"returned an answer that cannot be read ({trouble.message[:_QUOTED]}): "
            f"{'check the address' if place.base_url else 'try again later'}"
        ),
        FailureKind.SETUP: f"cannot be called ({trouble.message[:_QUOTED]}): check the key and the address",
    }[trouble.kind]
    transient = trouble.kind in (FailureKind.TIMEOUT, FailureKind.UNREACHABLE) and not trouble.lasting
    return Verdict(EmbedderUnavailable(f"{place.who} {sentence}."), transient)


def _of_status(place: Place, trouble: OpenAiFailure) -> Verdict:
    status = trouble.status or 500
    broke = "insufficient_quota" in trouble.words
    sentence = _NO_CREDIT if broke else STATUSES.get(status) or _OTHER.get(status // 100, _OTHER[4])
    words = " ".join(trouble.message.split())[:_QUOTED].rstrip(".")
    said = f" (HTTP {status}: {words})" if words else f" (HTTP {status})"
    address = ", or check the address" if place.base_url else ""
    filled = sentence.format(said=said, model=place.model, variable=place.key_variable, address=address)
    error = EmbedderUnavailable(f"{place.who} {filled}.")
    return Verdict(error, status in TRANSIENT and not broke, trouble.retry_after)


DEFAULT_MODEL = "text-embedding-3-small"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Default vector lengths of OpenAI's models."""

HOSTED = Limits(texts=256, request_bytes=300_000, text_bytes=8_000)
"""OpenAI itself accepts 2,048 texts and 300,000 tokens per request, 8,192 tokens per text
(reference of "Create embeddings").
"""

OTHER = Limits(texts=32, request_bytes=100_000, text_bytes=1_800)
"""Other servers: TEI accepts 32 texts by default, and many models have a window of 512 tokens."""


@frozen
class OpenAiEmbedder:
    """An embedder that uses a model of OpenAI or of a compatible server.

    `base_url` is the URL of the server (None: OpenAI). `timeout` is in seconds. `dimensions` shortens the vectors if
    the model supports it. `prompts` are put before the texts, for models such as nomic-embed (`search_query: `) and e5
    (`query: `). `key_variable` names the variable with the API key.
    """

    key: str | None = field(repr=False, converter=trimmed)
    model: str = DEFAULT_MODEL
    base_url: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    timeout: float = 60.0
    retries: Retries = field(factory=Retries, repr=False)
    prompts: Prompts = field(factory=Prompts)
    key_variable: str = "OPENAI_API_KEY"
    _client: Once[OpenAI] = field(init=False, repr=False, eq=False)
    _length: Once[int] = field(init=False, repr=False, eq=False)

    @_client.default
    def _make_client(self) -> Once[OpenAI]:
        return Once(self._connect)

    @_length.default
    def _make_length(self) -> Once[int]:
        return Once(lambda: len(self.documents(["length"])[0]))

    @property
    def identity(self) -> EmbedderIdentity:
        """See `Embedder.identity`. Getting it requests one vector if the vector length is unknown."""
        name = f"openai:{self.model}" if self.hosted else f"server:{self.model}"
        version = sha256(repr(self.prompts).encode()).hexdigest()[:8] if self.prompts else "1"
        return EmbedderIdentity(name, version, self._expected() or self._length())

    @property
    def window(self) -> int:
        """See `Embedder.window`. The window is 200 words for OpenAI, and 150 for other servers, whose models may accept
        only 512 tokens.
        """
        return 200 if self.hosted else 150

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`. The prompt for passages is put before each text that is not blank."""
        return self._embed([self.prompts.document + text if text.strip() else text for text in texts], progress)

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. The prompt for queries is put before a text that is not blank."""
        return self._embed([self.prompts.query + text if text.strip() else text], silent)[0]

    def _embed(self, texts: Sequence[str], progress: Progress) -> list[Vector]:
        limits = HOSTED if self.hosted else OTHER
        return embedded(texts, limits, lambda: self.identity.dimensions, self._ask, progress, self._place.who)

    def _ask(self, texts: Sequence[str], progress: Progress) -> Sequence[Sequence[float]]:
        answer = asked(lambda: self._request(texts), self._explain, self.retries, progress)
        vectors = _in_order(answer, len(texts), self._place.who)
        return as_long_as(vectors, self._expected(), self._place.who)

    def _request(self, texts: Sequence[str]) -> Any:
        wanted: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        return self._client().embeddings.create(
            model=self.model,
            input=list(texts),
            encoding_format="float",  # all servers support this encoding, but not base64
            **wanted,
        )

    def _connect(self) -> OpenAI:
        if self.key is None and self.hosted:
            raise EmbedderUnavailable(
                "OpenAI needs an API key. Set OPENAI_API_KEY, or choose another embedder (CITEKIT_EMBEDDER)."
            )
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise EmbedderUnavailable(
                f"The API key in {self.key_variable} contains characters that are not allowed in a key. Copy it again."
            )
        return driver.connect(self.key, self.base_url, self.timeout)

    @property
    def hosted(self) -> bool:
        """Whether the service is OpenAI itself, not a compatible server."""
        return urlsplit(self.base_url or driver.DEFAULT_URL).hostname == urlsplit(driver.DEFAULT_URL).hostname

    @property
    def _place(self) -> Place:
        return Place(model=self.model, base_url=self.base_url, timeout=self.timeout, key_variable=self.key_variable)

    def _expected(self) -> int | None:
        return self.dimensions or (DIMENSIONS.get(self.model) if self.hosted else None)

    def _explain(self, error: Exception) -> Verdict | None:
        trouble = driver.classify(error, self.key)
        if trouble is not None:
            return verdict(self._place, trouble)
        if isinstance(error, ValueError):  # raised by the SDK for a response without vectors
            text = f"{self._place.who} returned an answer without vectors. Check the model and the address."
            return Verdict(EmbedderUnavailable(text), transient=False)
        return None


def _in_order(answer: Any, count: int, whose: str) -> list[list[float]]:
    """Return the vectors in `answer`, sorted by index, or in their order if every index is 0, which some servers send.

    Raise `EmbedderUnavailable` if the indexes do not match `count` texts, or if the answer is not valid.
    """
    try:
        items = list(answer.data)
        numbers = [item.index for item in items]
        if sorted(numbers) == list(range(count)):
            items.sort(key=lambda item: item.index)
        elif any(numbers):
            raise EmbedderUnavailable(
                f"{whose} returned vectors whose indexes do not match the texts. Check the model."
            )
        return [list(item.embedding) for item in items]
    except (AttributeError, TypeError) as error:
        raise EmbedderUnavailable(f"{whose} returned an invalid answer. Check the address.") from error
