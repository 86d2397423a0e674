"""An embedder that uses the Gemini API.

`libraries.google_genai` decides whether to retry a failed request, but its error messages are about maps, so
this module has its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.libraries.google_genai import client, errors
from citekit.adapters.libraries.google_genai.statuses import KEYS_PAGE, LIMITS_PAGE, MESSAGE_LIMIT, CallContext
from citekit.adapters.search.embedders.service import Limits, as_long_as, embedded, trimmed
from citekit.adapters.system.lazy import Once
from citekit.adapters.system.retry import Retries, Verdict, asked
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from google import genai


def conceal(error: BaseException, secret: str) -> None:
    """Remove `secret` from the text and the attributes of an exception, so that a traceback does not reveal it."""
    if not secret:
        return
    error.args = tuple(_hidden(part, secret) for part in error.args)
    for name, value in list(vars(error).items()):
        with suppress(AttributeError):
            setattr(error, name, _hidden(value, secret))


def _hidden(value: object, secret: str) -> object:
    if isinstance(value, str):
        return value.replace(secret, "(the key)")
    if isinstance(value, dict | list):
        with suppress(TypeError, ValueError):
            return json.loads(json.dumps(value).replace(secret, "(the key)"))
    return value


STATUSES = {
    400: "rejected the request: check the API key, and that '{model}' is an embedding model",
    401: "rejected the API key: check {variables}, or create a new key at {keys}",
    403: "does not permit this request with the API key: check {variables} and the project of the key ({keys})",
    404: "has no embedding model '{model}': choose another (CITEKIT_EMBEDDER)",
    429: "reports that the quota is used up: wait, or raise the quota ({limits})",
}
"""The message for each HTTP status. For other statuses, see `_OTHER` and `_SHORT`."""

_OTHER = {3: "answered with a redirect: check the address {base_url}", 5: "failed: try again later"}
_SHORT = "rejected the request: check the model '{model}'"


def explainer(scene: CallContext) -> Callable[[Exception], Verdict | None]:
    """Return a function that returns the error to raise for an exception, and whether and when to retry.

    The function returns None for exceptions that `errors.explain` does not know, and removes the API key from the
    others. `scene` describes the request.
    """

    def explain(error: Exception) -> Verdict | None:
        trouble = errors.explain(error, scene)
        if trouble is None:
            return None
        conceal(error, scene.key)
        return Verdict(EmbedderUnavailable(_text(error, scene)), trouble.transient, trouble.retry_after)

    return explain


def _text(error: Exception, scene: CallContext) -> str:
    code = getattr(error, "code", None)
    words = " ".join(str(getattr(error, "message", None) or error).split())[:MESSAGE_LIMIT].rstrip(".")
    said = words if words and not words.startswith("<") else type(error).__name__
    text = f"Gemini {_happened(code, said) if isinstance(code, int) else _lost(error, said)}."
    return _filled(text, scene)


def _happened(code: int, said: str) -> str:
    sentence = STATUSES.get(code) or _OTHER.get(code // 100, _SHORT)
    happened, _, remedy = sentence.partition(": ")
    return f"{happened} (HTTP {code}: {_escaped(said)}): {remedy}"


def _lost(error: Exception, said: str) -> str:
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names:
        return "did not answer within {timeout:g} s: try again later"
    if "TransportError" in names:
        return f"is not reachable at {{base_url}} ({_escaped(said)}): check the network, the proxy, and the address"
    return f"at {{base_url}} returned an invalid answer ({_escaped(said)}): check the address"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _filled(text: str, scene: CallContext) -> str:
    filled = text.format(
        model=scene.model,
        base_url=scene.base_url,
        timeout=scene.timeout,
        variables=scene.variables,
        keys=KEYS_PAGE,
        limits=LIMITS_PAGE,
    )
    return filled.replace(scene.key, "(the key)") if scene.key else filled


DEFAULT_MODEL = "gemini-embedding-2"
VARIABLES = "GEMINI_API_KEY or GOOGLE_API_KEY"
LIMITS = Limits(texts=100, request_bytes=200_000, text_bytes=2_000)
"""`batchEmbedContents` accepts 100 texts; `gemini-embedding-001` accepts 2,048 tokens per text, `gemini-embedding-2`
8,192.
"""

_TASKS = ("gemini-embedding-001", "gemini-embedding-exp", "text-embedding", "embedding-001")
"""The beginnings of the names of models with a `task_type` parameter. Newer models expect a prompt before the text."""

_QUERY, _DOCUMENT = "task: search result | query: ", "title: none | text: "
"""The prefixes from the guide to `gemini-embedding-2`."""


@frozen
class GeminiEmbedder:
    """An embedder that uses a model of the Gemini API.

    `dimensions` is the vector length: the models are trained for 768, 1536, and 3072. `timeout` is in seconds.
    `key_variable` names the variable with the API key.
    """

    key: str | None = field(repr=False, converter=trimmed)
    model: str = DEFAULT_MODEL
    dimensions: int = 768
    base_url: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: Retries = field(factory=Retries, repr=False)
    key_variable: str = VARIABLES
    _client: Once[genai.Client] = field(init=False, repr=False, eq=False)

    @_client.default
    def _make_client(self) -> Once[genai.Client]:
        return Once(self._connect)

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the model. Getting it sends no request."""
        return EmbedderIdentity(f"gemini:{self.model}", "1", self.dimensions)

    @property
    def window(self) -> int:
        """The number of words per passage: 200."""
        return 200

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        return self._embed(texts, "RETRIEVAL_DOCUMENT", _DOCUMENT, progress)

    def query(self, text: str) -> Vector:
        """See `Embedder.query`."""
        return self._embed([text], "RETRIEVAL_QUERY", _QUERY, silent)[0]

    def _embed(self, texts: Sequence[str], task: str, prompt: str, progress: Progress) -> list[Vector]:
        def ask(batch: Sequence[str], progress: Progress) -> Sequence[Sequence[float]]:
            answer = asked(lambda: self._request(batch, task, prompt), explainer(self._scene), self.retries, progress)
            vectors = [list(each.values or ()) for each in answer.embeddings or ()]
            return as_long_as(vectors, self.dimensions, "Gemini")

        return embedded(texts, LIMITS, lambda: self.dimensions, ask, progress, "Gemini")

    def _request(self, texts: Sequence[str], task: str, prompt: str) -> Any:
        connected = self._client()
        from google.genai import types

        told = self.model.removeprefix("models/").startswith(_TASKS)
        before = "" if told else prompt
        contents: Any = [types.Content(parts=[types.Part(text=before + text)]) for text in texts]
        config = types.EmbedContentConfig(
            task_type=task if told else None,
            output_dimensionality=self.dimensions,
        )
        return connected.models.embed_content(model=self.model, contents=contents, config=config)

    def _connect(self) -> genai.Client:
        if self.key is None:
            raise EmbedderUnavailable(
                f"Gemini needs an API key. Set {VARIABLES}, or choose another embedder (CITEKIT_EMBEDDER)."
            )
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise EmbedderUnavailable(
                f"The API key in {self.key_variable} contains characters that are not allowed in a key. Copy it again."
            )
        return client.connect(self.key, self.base_url, self.timeout)

    @property
    def _scene(self) -> CallContext:
        return CallContext(
            model=self.model,
            base_url=self.base_url or client.BASE_URL,
            timeout=self.timeout,
            variables=self.key_variable,
            suggestion=DEFAULT_MODEL,
            key=self.key or "",
        )
