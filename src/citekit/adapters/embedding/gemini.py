"""Embeddings of the Gemini API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.drivers import google_genai
from citekit.adapters.drivers.asking_again import Retries, asked
from citekit.adapters.drivers.google_genai_scene import Scene
from citekit.adapters.drivers.once import Once
from citekit.adapters.embedding.gemini_failures import explainer
from citekit.adapters.embedding.service import Limits, as_long_as, embedded, trimmed
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from google import genai

DEFAULT_MODEL = "gemini-embedding-2"
VARIABLES = "GEMINI_API_KEY or GOOGLE_API_KEY"
LIMITS = Limits(texts=100, request_bytes=200_000, text_bytes=2_000)
"""`batchEmbedContents` takes 100 texts; `gemini-embedding-001` 2,048 tokens a text, `gemini-embedding-2` 8,192."""

_TASKS = ("gemini-embedding-001", "gemini-embedding-exp", "text-embedding", "embedding-001")
"""Models that are told by `task_type` what a text is; newer ones by words before it."""

_QUERY, _DOCUMENT = "task: search result | query: ", "title: none | text: "
"""As the guide of `gemini-embedding-2` writes them."""


@frozen
class GeminiEmbedder:
    """`dimensions` of the vectors: the models are trained for 768, 1536 and 3072, of which 768 cost the least room.

    Shorter vectors of `gemini-embedding-001` come without unit length; they get it here. `timeout` is in seconds.
    """

    key: str | None = field(repr=False, converter=trimmed)
    model: str = DEFAULT_MODEL
    dimensions: int = 768
    base_url: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: Retries = field(factory=Retries, repr=False)
    _client: Once[genai.Client] = field(init=False, repr=False, eq=False)

    @_client.default
    def _make_client(self) -> Once[genai.Client]:
        return Once(self._connect)

    @property
    def identity(self) -> EmbedderIdentity:
        """Of the model; asks nobody."""
        return EmbedderIdentity(f"gemini:{self.model}", "1", self.dimensions)

    @property
    def window(self) -> int:
        """200 words."""
        return 200

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """A vector for each text, as of a passage that is looked for."""
        return self._embed(texts, "RETRIEVAL_DOCUMENT", _DOCUMENT, progress)

    def query(self, text: str) -> Vector:
        """The vector of a question that passages answer."""
        return self._embed([text], "RETRIEVAL_QUERY", _QUERY, silent)[0]

    def _embed(self, texts: Sequence[str], task: str, prompt: str, progress: Progress) -> list[Vector]:
        def ask(batch: Sequence[str], progress: Progress) -> Sequence[Sequence[float]]:
            answer = asked(lambda: self._request(batch, task, prompt), explainer(self._scene), self.retries, progress)
            vectors = [list(each.values or ()) for each in answer.embeddings or ()]
            return as_long_as(vectors, self.dimensions, "Gemini")

        return embedded(texts, LIMITS, lambda: self.dimensions, ask, progress, "Gemini")

    def _request(self, texts: Sequence[str], task: str, prompt: str) -> Any:
        from google.genai import types

        told = self.model.removeprefix("models/").startswith(_TASKS)
        before = "" if told else prompt
        contents: Any = [types.Content(parts=[types.Part(text=before + text)]) for text in texts]
        config = types.EmbedContentConfig(
            task_type=task if told else None,
            output_dimensionality=self.dimensions,
        )
        return self._client().models.embed_content(model=self.model, contents=contents, config=config)

    def _connect(self) -> genai.Client:
        if self.key is None:
            raise EmbedderUnavailable(f"Gemini needs a key: set {VARIABLES}, or choose another embedder.")
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise EmbedderUnavailable(f"The key in {VARIABLES} holds characters that no key has: copy it again.")
        return google_genai.connect(self.key, self.base_url, self.timeout)

    @property
    def _scene(self) -> Scene:
        return Scene(
            model=self.model,
            base_url=self.base_url or google_genai.BASE_URL,
            timeout=self.timeout,
            variables=VARIABLES,
            suggestion=DEFAULT_MODEL,
            key=self.key or "",
        )
