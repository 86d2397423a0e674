from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.system.retry import PAUSE_LIMIT
from tests.services.gemini_faults import PDF, Fault, Outcome, faults, file_for, outcome_of, question_about, service_for
from tests.services.gemini_server import KEY, gemini_server

FAULTS = {fault.name: fault for fault in faults()}

SAID = {
    "no key": ("GEMINI_API_KEY or GOOGLE_API_KEY", "--mapper local, which needs no key"),
    "a malformed key": ("GEMINI_API_KEY", "Copy it again"),
    "wrong key": ("HTTP 400 INVALID_ARGUMENT", "check GEMINI_API_KEY or GOOGLE_API_KEY"),
    "key refused (401)": ("HTTP 401 UNAUTHENTICATED", "check GEMINI_API_KEY or GOOGLE_API_KEY"),
    "key not permitted (403)": ("HTTP 403 PERMISSION_DENIED", "Generative Language API is disabled"),
    "account not served (400 FAILED_PRECONDITION)": ("HTTP 400 FAILED_PRECONDITION", "enable billing"),
    "unknown model (404)": ("no model 'gemini-9-nonesuch'", "HTTP 404", "--model", "gemini-3.8-flash"),
    "server not reachable": ("not reachable at http://127.0.0.1", "--base-url"),
    "address without https://": ("'localhost:8080' is not a valid service address", "--base-url"),
    "an address that is no Gemini (web page)": ("is not a Gemini response", "--base-url"),
    "redirect": ("HTTP 302", "--base-url"),
    "429 that lasts": ("HTTP 429 RESOURCE_EXHAUSTED", "wait 1 s", "--model-concurrency"),
    "429 that asks for a long wait": ("HTTP 429", "wait 3600 s"),
    "no quota at all for the model (429)": ("HTTP 429", "no quota for the model", "--model", "billing"),
    "quota of the day (429)": ("HTTP 429", "no quota left today", "tomorrow"),
    "503 that lasts": ("HTTP 503 UNAVAILABLE", "try again later"),
    "500 that lasts": ("HTTP 500 INTERNAL", "try again later"),
    "no answer in time, again and again": ("for 0.3 s", "--timeout"),
    "disconnect, again and again": ("connection to Gemini was lost",),
    "budget used up": ("limit on requests (1)", "--max-requests"),
    "request refused (400)": ("HTTP 400 INVALID_ARGUMENT", "invalid argument", "--model"),
    "more tokens than the model takes (400)": ("exceeds the token limit of the model", "1048576"),
    "request too large (413)": ("HTTP 413", "smaller file"),
    "limit of output spent on thinking": ("MAX_TOKENS", "before it wrote an answer"),
    "question blocked (SAFETY)": ("refused the file or the question (SAFETY)", "safety filters", "--mapper local"),
    "no candidates": ("no answer",),
    "empty answer": ("returned an empty answer (STOP",),
    "malformed JSON of the service": ("is not a Gemini response",),
    "JSON of another shape": ("Gemini", "--mapper local"),
    "PDF over 50 MB": ("is 50 MB", "book.pdf is 61.2 MB", "so it was not uploaded"),
    "recording over 2 GB": ("is 2,000 MB", "lecture.mp4 is 2,400.0 MB", "so it was not uploaded"),
    "upload refused (403)": ("HTTP 403 PERMISSION_DENIED",),
    "upload refused in the middle (400)": ("HTTP 400 INVALID_ARGUMENT",),
    "upload without an address": ("is not a Gemini response",),
    "processing never ends": ("did not finish processing lecture.mp4 within 20 s", "--timeout"),
    "processing fails": ("could not process lecture.mp4 (The video has no frames)",),
    "question and deletion fail": ("(SAFETY)",),
    **{
        f"answer broken off ({reason})": (f"ended its answer early ({reason})", "--mapper local")
        for reason in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER")
    },
}
"""What the user has to be told of each fault that ends the ingest."""

STAYS = {"deletion fails", "question and deletion fail"}
"""The faults after which a file remains at the service, until the next run."""

PAUSES = {
    "429 with Retry-After, then well": [7.0],
    "429 with RetryInfo, then well": [12.5],
    "500, then well": [1.0],
    "503 that lasts": [1.0, 2.0, 4.0],
    "429 that asks for a long wait": [],
    "quota of the day (429)": [],
    "request refused (400)": [],
    "key refused (401)": [],
    "key not permitted (403)": [],
    "unknown model (404)": [],
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Fault], Outcome]:
    known: dict[str, Outcome] = {}

    def of(fault: Fault) -> Outcome:
        if fault.name not in known:
            known[fault.name] = outcome_of(fault, tmp_path_factory.mktemp("fault"))
        return known[fault.name]

    return of


def test_what_is_said_of_every_fault_that_ends_an_ingest_is_asserted() -> None:
    assert {fault.name for fault in faults() if not fault.ends_well} == set(SAID)
    assert len(FAULTS) == len(faults())


@pytest.mark.long
@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_a_fault_ends_in_one_clear_sentence_or_none(fault: Fault, outcome: Callable[[Fault], Outcome]) -> None:
    met = outcome(fault)

    assert fault.ends_well is (met.seen is None)
    if met.seen is not None:
        assert [] == [words for words in SAID[fault.name] if words not in met.seen]
        assert met.seen.endswith(".")
        assert "\n" not in met.seen
        assert len(met.seen) < 700
        assert KEY not in met.seen


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_the_model_is_asked_no_more_often_than_that_helps(fault: Fault, outcome: Callable[[Fault], Outcome]) -> None:
    met = outcome(fault)

    assert fault.requests == met.sent.get("generate", 0)
    if met.reply is not None:
        assert fault.requests == met.reply.usage.requests


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_nothing_remains_at_the_service_but_what_it_refused_to_delete(
    fault: Fault, outcome: Callable[[Fault], Outcome]
) -> None:
    met = outcome(fault)

    assert (1 if fault.name in STAYS else 0) == len(met.remained)
    assert list(met.remained) == list(met.remembered)


@pytest.mark.parametrize("name", PAUSES)
def test_pauses_grow_or_are_those_asked_for(name: str, outcome: Callable[[Fault], Outcome]) -> None:
    met = outcome(FAULTS[name])

    assert PAUSES[name] == list(met.pauses)
    assert all(pause <= PAUSE_LIMIT for pause in met.pauses)


def test_a_file_that_is_too_large_is_not_even_begun(outcome: Callable[[Fault], Outcome]) -> None:
    assert {} == outcome(FAULTS["PDF over 50 MB"]).sent
    assert {} == outcome(FAULTS["recording over 2 GB"]).sent


@pytest.mark.parametrize("name", ["answer cut off at the limit of output", "answer to be continued"])
def test_an_answer_that_was_cut_off_says_so(name: str, outcome: Callable[[Fault], Outcome]) -> None:
    reply = outcome(FAULTS[name]).reply

    assert reply is not None
    assert ('{"nodes": [{"ti', False) == (reply.text, reply.complete)


def test_the_next_run_deletes_what_a_run_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fault = Fault(name="left", media_type=PDF)
    part = file_for(fault, tmp_path)
    leftovers = OrphanedUploads(tmp_path / "leftovers")
    with gemini_server() as server:
        server.on("delete", *FAULTS["deletion fails"].script["delete"])
        service = service_for(server, leftovers, lambda _: None)
        with service.session() as session:
            session.ask(question_about(part), lambda *_: None)
        left = [each.name for each in leftovers.pending()]
        assert f"Gemini may still store these uploaded files: {left[0]}" in caplog.text

        with service.session():
            pass

        assert 1 == len(left)
        assert f"/v1beta/files/{left[0]}" == server.of("delete")[-1].path
        assert {} == server.files
        assert [] == leftovers.pending()
        assert [] == list((tmp_path / "leftovers").glob("*.json"))
