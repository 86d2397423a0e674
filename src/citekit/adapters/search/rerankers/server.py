"""A reranker on a server with the endpoint `/rerank` of Cohere and Jina: vLLM, llama.cpp, Infinity, LocalAI, and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.libraries import openai as driver
from citekit.adapters.libraries.openai import FailureKind, OpenAiFailure
from citekit.adapters.search.rerankers.parts import parts, plain, probabilities
from citekit.adapters.system.lazy import Once
from citekit.adapters.system.retry import TRANSIENT, Retries, Verdict, asked
from citekit.domain.errors import RerankerUnavailable
from citekit.domain.ports.reranker import PageCandidate
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from openai import OpenAI

WORDS, MOST = 250, 3
"""Maximum number of words in a part of a page, and of parts of a page that are sent. Most models accept 512 tokens."""

QUESTION = 2000
"""Maximum number of characters of a question that are sent."""

_QUOTED = 300


@frozen
class ServerReranker:
    """A `Reranker` that uses a model on the server at `base_url` (the URL without `/rerank`).

    `key` is sent as a bearer token (None: no token). `timeout` is in seconds.
    """

    base_url: str = field(repr=False)
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: Retries = field(factory=Retries, repr=False)
    _client: Once[OpenAI] = field(init=False, repr=False, eq=False)

    @_client.default
    def _make_client(self) -> Once[OpenAI]:
        return Once(lambda: driver.connect(self.key, self.base_url, self.timeout))

    @property
    def name(self) -> str:
        """See `Reranker.name`."""
        return f"{self.model} (rerank server)"

    def scores(self, question: str, pages: Sequence[PageCandidate], progress: Progress = silent) -> Sequence[float]:
        """See `Reranker.scores`. The score of a page is that of its best part."""
        owners, texts = [], []
        for at, page in enumerate(pages):
            for part in parts(page.text, WORDS, MOST):
                owners.append(at)
                texts.append(plain(part) or "-")
        if not texts:
            return []
        answer = asked(lambda: self._request(plain(question[:QUESTION]), texts), self._explain, self.retries, progress)
        found = [0.0] * len(pages)
        for at, score in zip(owners, self._read(answer, len(texts)), strict=True):
            found[at] = max(found[at], score)
        return found

    def _request(self, question: str, texts: Sequence[str]) -> object:
        body = {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        return self._client().post("/rerank", cast_to=object, body=body)

    def _read(self, answer: Any, count: int) -> list[float]:
        try:
            found = {int(each["index"]): float(each["relevance_score"]) for each in answer["results"]}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._failed("returned an answer without scores: check the address and the model") from error
        if sorted(found) != list(range(count)) or not all(map(math.isfinite, found.values())):
            raise self._failed("did not return exactly one finite score for each text: check the model")
        return probabilities([found[at] for at in range(count)])

    def _explain(self, error: Exception) -> Verdict | None:
        trouble = driver.classify(error, self.key)
        return None if trouble is None else self._verdict(trouble)

    def _verdict(self, trouble: OpenAiFailure) -> Verdict:
        words = " ".join(trouble.message.split())[:_QUOTED].rstrip(".")
        if trouble.kind is FailureKind.STATUS:
            status = trouble.status or 500
            said = f" (HTTP {status}: {words})" if words else f" (HTTP {status})"
            advice = {
                401: "check CITEKIT_RERANKER_KEY or CITEKIT_RERANKER_KEY_FILE",
                403: "check CITEKIT_RERANKER_KEY or CITEKIT_RERANKER_KEY_FILE",
                404: f"check CITEKIT_RERANKER_URL and the model '{self.model}'",
                405: "check CITEKIT_RERANKER_URL",
            }.get(status, f"check the model '{self.model}'")
            if status // 100 == 3:
                advice = "check CITEKIT_RERANKER_URL"
            elif status // 100 == 5 or status in TRANSIENT:
                advice = "try again later"
            happened = {3: "answered with a redirect", 5: "failed"}.get(status // 100, "rejected the request")
            return Verdict(self._failed(f"{happened}{said}: {advice}"), status in TRANSIENT, trouble.retry_after)
        sentence = {
            FailureKind.TIMEOUT: f"did not answer within {self.timeout:g} s: try again later",
            FailureKind.UNREACHABLE: (
                f"is not reachable ({words}): check CITEKIT_RERANKER_URL, and that the server is running"
            ),
            FailureKind.UNREADABLE: f"returned an answer that cannot be read ({words}): check the address",
        }.get(trouble.kind, f"cannot be called ({words}): check CITEKIT_RERANKER_URL and CITEKIT_RERANKER_KEY")
        transient = trouble.kind in (FailureKind.TIMEOUT, FailureKind.UNREACHABLE) and not trouble.lasting
        return Verdict(self._failed(sentence), transient)

    def _failed(self, sentence: str) -> RerankerUnavailable:
        return RerankerUnavailable(f"The rerank server at {self.base_url} {sentence}.")
