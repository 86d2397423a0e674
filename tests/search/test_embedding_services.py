"""The embedding services through their own SDKs, against a server that behaves as they document."""

from __future__ import annotations

import socket
import traceback
from typing import Any

import pytest

from citekit.adapters.search.embedders.gemini import GeminiEmbedder
from citekit.adapters.search.embedders.openai import HOSTED, OpenAiEmbedder
from citekit.adapters.search.embedders.service import embedded
from citekit.adapters.search.embedders.texts import Prompts
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import Cancelled, EmbedderUnavailable
from citekit.domain.ports.embedder import Embedder
from tests.services.embedding_server import KEY, EmbeddingServer, Fault, google_error, openai_error

QUICK = Retries(count=2, base=0.001)
WRONG_KEY = "sk-wrong-key-that-nobody-may-see"


def openai(server: EmbeddingServer, **options: Any) -> OpenAiEmbedder:
    return OpenAiEmbedder(**{"key": KEY, "base_url": server.url, "retries": QUICK, **options})


def gemini(server: EmbeddingServer, **options: Any) -> GeminiEmbedder:
    return GeminiEmbedder(**{"key": KEY, "base_url": server.root, "retries": QUICK, **options})


MAKERS = pytest.mark.parametrize("make", [openai, gemini])


def test_a_request_to_openai_is_as_documented() -> None:
    with EmbeddingServer() as server:
        vector = openai(server, dimensions=256).query("why?")

    (request,) = server.requests
    expected = {"model": "text-embedding-3-small", "input": ["why?"], "dimensions": 256, "encoding_format": "float"}
    assert expected == request.body
    assert 256 == len(vector)


def test_questions_and_passages_are_told_apart_by_words() -> None:
    with EmbeddingServer() as server:
        gemini(server).query("why?")
        gemini(server).documents(["because"])

    assert [["task: search result | query: why?"], ["title: none | text: because"]] == [
        request.texts for request in server.requests
    ]


def test_questions_and_passages_are_told_apart_by_the_task_for_the_older_model() -> None:
    with EmbeddingServer() as server:
        gemini(server, model="gemini-embedding-001").query("why?")
        gemini(server, model="gemini-embedding-001").documents(["because"])

    sent = [each for request in server.requests for each in request.body["requests"]]
    assert ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"] == [each["taskType"] for each in sent]
    assert [768, 768] == [each["outputDimensionality"] for each in sent]


def test_prompts_stand_before_the_texts_for_another_server() -> None:
    prompts = Prompts("search_query: ", "search_document: ")
    with EmbeddingServer(keyed=False, models={"nomic-embed-text": 64}) as server:
        embedder = openai(server, key=None, model="nomic-embed-text", prompts=prompts)
        embedder.query("why?")
        embedder.documents(["because"])

    assert [["search_query: why?"], ["search_document: because"]] == [request.texts for request in server.requests]
    assert "server:nomic-embed-text" == embedder.identity.name
    assert openai(server, model="nomic-embed-text", dimensions=64).identity.version != embedder.identity.version


@pytest.mark.long
@MAKERS
def test_many_texts_are_sent_in_requests_within_the_limits(make: Any) -> None:
    texts = [f"passage number {number}" for number in range(230)]
    with EmbeddingServer() as server:
        embedder = make(server)

        vectors = embedder.documents(texts)

        assert list(vectors[200]) == list(embedder.documents([texts[200]])[0])
    assert 230 == len(vectors)
    assert 2 < len(server.requests)


def test_requests_to_openai_itself_stay_within_its_tokens() -> None:
    sizes: list[int] = []

    def ask(batch: Any, progress: Any) -> list[list[float]]:
        sizes.append(sum(len(text.encode()) for text in batch))
        return [[1.0, 0.0] for _ in batch]

    vectors = embedded(["語 " * 9_000, *["word " * 1000] * 500], HOSTED, lambda: 2, ask, lambda *_: None, "it")

    assert 501 == len(vectors)
    assert 300_000 >= max(sizes)
    assert 9 == len(sizes)


@MAKERS
def test_texts_without_words_are_not_sent(make: Any) -> None:
    with EmbeddingServer() as server:
        vectors = make(server, dimensions=64).documents(["", "  ", "\n"])

    assert [] == server.requests
    assert [64, 64, 64] == [len(vector) for vector in vectors]


def test_vectors_that_come_in_another_order_are_put_in_order() -> None:
    with EmbeddingServer([Fault(), Fault(manner="reversed")]) as server:
        expected, found = (openai(server).documents(["one", "two", "three"]) for _ in range(2))

    assert expected == found


TRANSIENT = [
    openai_error(429, "Rate limit reached", retry="0"),
    openai_error(500, "The server had an error"),
    openai_error(503, "Overloaded"),
    google_error(429, "RESOURCE_EXHAUSTED", "Quota exceeded", retry="0"),
    google_error(500, "INTERNAL", "An internal error has occurred."),
    google_error(503, "UNAVAILABLE", "The model is overloaded."),
    Fault(manner="drop"),
]


@MAKERS
@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda fault: f"{fault.status}{fault.manner}")
def test_what_passes_is_asked_again(make: Any, fault: Fault) -> None:
    with EmbeddingServer([fault, fault]) as server:
        vector = make(server).query("why?")

    assert 3 == len(server.requests)
    assert vector


@MAKERS
@pytest.mark.parametrize(
    ("fault", "says", "requests"),
    [
        (Fault(status=503, body="<html>down</html>"), "failed", 3),
        (google_error(429, "RESOURCE_EXHAUSTED", "Quota exceeded", retry="3600"), "quota", 1),
        (openai_error(413, "too large"), "HTTP 413", 1),
        (openai_error(403, "no"), "does not permit", 1),
        (openai_error(422, "dimensions"), "rejected the request", 1),
        (Fault(body="<html>Welcome</html>"), "returned an invalid answer|wrong number of vectors: 0|cannot be read", 1),
        (Fault(body={}), "without vectors|wrong number of vectors: 0|invalid answer", 1),
        (Fault(body=[]), "returned (an invalid answer|the wrong number of vectors: 0)", 1),
        (
            Fault(body={"data": [{"index": 0}], "embeddings": [{}]}),
            "invalid answer|dimensions|cannot be read|no finite",
            1,
        ),
        (Fault(manner="one_less"), "returned the wrong number of vectors: 1 instead of 2", 1),
        (Fault(manner="shorter"), "dimensions|different lengths", 1),
        (Fault(manner="words"), "not finite numbers|invalid answer", 1),
        (Fault(manner="zeros"), "only zeros", 1),
        (Fault(manner="digits"), "cannot be read|invalid answer", 1),
        (Fault(manner="sum"), "too large or not finite", 1),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_does_not_pass_is_one_clear_error(make: Any, fault: Fault, says: str, requests: int) -> None:
    with EmbeddingServer([fault] * 3) as server, pytest.raises(EmbedderUnavailable, match=says):
        make(server).documents(["one", "two"])

    assert requests == len(server.requests)


def test_gemini_follows_no_redirect_which_would_carry_the_key_away() -> None:
    fault = Fault(status=302, body={}, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    with EmbeddingServer([fault]) as server, pytest.raises(EmbedderUnavailable, match="redirect"):
        gemini(server).query("why?")

    assert 1 == len(server.requests)


def test_no_credit_left_is_not_asked_again() -> None:
    fault = openai_error(429, "You exceeded your current quota", "insufficient_quota")
    with EmbeddingServer([fault]) as server, pytest.raises(EmbedderUnavailable, match="no credit left"):
        openai(server).query("why?")

    assert 1 == len(server.requests)


@MAKERS
def test_a_wrong_key_is_said_and_not_shown(make: Any) -> None:
    with EmbeddingServer() as server, pytest.raises(EmbedderUnavailable, match="key") as caught:
        make(server, key=WRONG_KEY).query("why?")

    assert WRONG_KEY not in str(caught.value)
    assert WRONG_KEY not in repr(make(server, key=WRONG_KEY))
    assert 1 == len(server.requests)


@MAKERS
def test_a_wrong_key_is_not_in_the_traceback_either(make: Any) -> None:
    with EmbeddingServer() as server, pytest.raises(EmbedderUnavailable) as caught:
        make(server, key=WRONG_KEY).query("why?")

    assert WRONG_KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("embedder", [OpenAiEmbedder(None), OpenAiEmbedder("  "), GeminiEmbedder(None)])
def test_a_missing_key_says_which_variable_to_set(embedder: Embedder) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"Set .*_API_KEY"):
        embedder.query("why?")


@pytest.mark.parametrize("embedder", [OpenAiEmbedder("k\ney"), GeminiEmbedder("schlüssel")])
def test_a_key_that_is_none_is_refused_without_being_shown(embedder: Embedder) -> None:
    with pytest.raises(EmbedderUnavailable, match="characters that are not allowed"):
        embedder.query("why?")


@MAKERS
def test_an_unknown_model_is_named(make: Any) -> None:
    with EmbeddingServer() as server, pytest.raises(EmbedderUnavailable, match="no embedding model 'embedding-9'"):
        make(server, model="embedding-9").query("why?")


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_a_server_that_is_not_there_is_named(kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    embedders: dict[str, Embedder] = {
        "openai": OpenAiEmbedder(KEY, base_url=f"{address}/v1", retries=QUICK),
        "gemini": GeminiEmbedder(KEY, base_url=address, retries=QUICK),
    }

    with pytest.raises(EmbedderUnavailable, match=address):
        embedders[kind].query("why?")


@pytest.mark.long
@MAKERS
def test_a_server_that_does_not_answer_is_given_up(make: Any) -> None:
    with EmbeddingServer([Fault(manner="hang")] * 2) as server:
        with pytest.raises(EmbedderUnavailable, match="did not answer within"):
            make(server, timeout=0.5, retries=Retries(count=0)).query("why?")
        server.closing.set()


@MAKERS
def test_whoever_gives_up_while_a_request_is_under_way_does_not_wait(make: Any) -> None:
    def given_up(done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith("waiting"):
            raise Cancelled("enough")

    with EmbeddingServer([Fault(manner="hang")]) as server:
        with pytest.raises(Cancelled):
            make(server).documents(["one"], given_up)
        server.closing.set()


def test_the_length_of_an_unknown_models_vectors_is_asked_for_once() -> None:
    with EmbeddingServer(keyed=False, models={"nomic-embed-text": 64}) as server:
        embedder = openai(server, key=None, model="nomic-embed-text")
        lengths = [embedder.identity.dimensions, embedder.identity.dimensions, len(embedder.query(""))]

    assert [64, 64, 64] == lengths
    assert 1 == len(server.requests)
