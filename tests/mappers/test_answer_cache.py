"""What was answered is not paid for twice: answers about an unfinished map are kept, and a rerun asks for the rest."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.mappers.llm.answer_cache import AnswerCache, CachedAnswer, FileAnswerCache, MemoryAnswerCache
from citekit.adapters.mappers.llm.answers import Answer, RawNode
from citekit.adapters.mappers.llm.messages import BudgetExhausted, Limits, Question, Reply
from citekit.domain.errors import Cancelled, CiteKitError, FaultyAnswer, MapperUnavailable
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress
from tests.doubles.model_service import Line, ScriptedService
from tests.mappers.model_talks import model_mapper, nodes, prompt_text, rows_of, source_of

REFUSED = MapperUnavailable("The service refused the file.")


@pytest.fixture(params=["memory", "files"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AnswerCache:
    return MemoryAnswerCache() if request.param == "memory" else FileAnswerCache(tmp_path / "answers")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "long.md"
    path.write_text("".join(f"# Part {n} heron\n\n" + f"words of part {n}\n" * 40 for n in range(1, 9)))
    return path


def answering(question: Question) -> str:
    shown = re.findall(r"^(\d+)\| (.*)$", question.parts[0].text, re.M)  # type: ignore[union-attr]
    heads = [(int(n), line[2:]) for n, line in shown if line.startswith("# ")]
    ends = [n - 1 for n, _ in heads[1:]] + [int(shown[-1][0])]
    return nodes(*((1, title, n, end) for (n, title), end in zip(heads, ends, strict=True)), unit="line")


def service(script: Callable[[Question], Line], characters: int = 1500) -> ScriptedService:
    return ScriptedService(script, limits_of=Limits(as_file=False, characters=characters))


def failing_after(count: int, error: Exception = REFUSED) -> ScriptedService:
    asked: list[Question] = []

    def script(question: Question) -> Line:
        asked.append(question)
        return error if len(asked) > count else Reply(answering(question), True, Usage(1, 1000, 100))

    return service(script)


def test_a_rerun_asks_only_for_what_is_missing(text: Path, kept: AnswerCache) -> None:
    whole = service(answering)
    expected = model_mapper(whole).map(source_of(text), "x")
    windows = len(whole.questions)
    assert windows > 3

    with pytest.raises(MapperUnavailable) as caught:
        model_mapper(failing_after(windows - 1), cache=kept, concurrency=1).map(source_of(text), "x")
    again = service(answering)
    made = model_mapper(again, cache=kept).map(source_of(text), "x")

    said_then = (
        f"Requests answered so far: {windows - 1} (input tokens: {windows - 1}000, output tokens: {windows - 1}00)."
    )
    assert said_then in str(caught.value)
    assert f"The answers for {windows - 1} of {windows} parts are cached" in str(caught.value)
    assert 1 == len(again.questions)
    assert rows_of(expected) == rows_of(made)
    assert windows == made.metadata["usage"]["requests"]
    assert any("unfinished run" in note for note in made.metadata["notes"])


def test_the_answers_about_a_finished_map_are_removed(text: Path, kept: AnswerCache) -> None:
    first, second = service(answering), service(answering)

    model_mapper(first, cache=kept).map(source_of(text), "x")
    model_mapper(second, cache=kept).map(source_of(text), "x")

    assert len(first.questions) == len(second.questions) > 1


@pytest.mark.parametrize("change", ["model", "text"])
def test_answers_of_another_model_or_about_other_bytes_are_not_used(text: Path, change: str) -> None:
    kept = MemoryAnswerCache()
    with pytest.raises(MapperUnavailable):
        model_mapper(failing_after(2), cache=kept, concurrency=1).map(source_of(text), "x")
    other = service(answering)
    if change == "model":
        other.model = "another"
    else:
        text.write_text(text.read_text() + "one more line\n")

    made = model_mapper(other, cache=kept).map(source_of(text), "x")

    assert made.metadata["usage"]["requests"] == len(other.questions)


def test_a_spent_budget_ends_the_repair_and_not_the_map(text: Path) -> None:
    def script(question: Question) -> Line:
        if question.turns:
            return BudgetExhausted("The budget of 1 requests is used up.")
        return answering(question).replace('"title": "Part 1 heron"', '"title": "Nothing of the sort"')

    made = model_mapper(service(script)).map(source_of(text), "x")

    assert 7 == len(made.nodes)
    assert any(
        "The follow-up request to correct the answer (faults: 1) failed: The budget" in note
        for note in made.metadata["notes"]
    )


def test_a_repair_that_was_interrupted_is_taken_up_again(text: Path, kept: AnswerCache) -> None:
    def interrupted(question: Question) -> Line:
        if question.turns:
            return Cancelled("given up")
        return answering(question).replace('"title": "Part 1 heron"', '"title": "Nothing of the sort"')

    with pytest.raises(Cancelled) as caught:
        model_mapper(service(interrupted, 4000), cache=kept, concurrency=1).map(source_of(text), "x")
    again = service(answering, 4000)
    made = model_mapper(again, cache=kept, concurrency=1).map(source_of(text), "x")

    assert any("parts are cached" in note for note in caught.value.__notes__)
    assert "Nothing of the sort" in again.questions[0].turns[0].reply.text
    assert "these words are not in the file" in prompt_text(again.questions[0])
    assert 8 == len(made.nodes)


def test_an_allowance_counts_only_what_is_asked_for(text: Path, kept: AnswerCache) -> None:
    whole = service(answering)
    model_mapper(whole).map(source_of(text), "x")
    windows = len(whole.questions)
    with pytest.raises(MapperUnavailable, match="Nothing was sent"):
        model_mapper(service(answering), cache=kept, max_requests=windows - 1).map(source_of(text), "x")
    with pytest.raises(MapperUnavailable):
        model_mapper(failing_after(2), cache=kept, concurrency=1).map(source_of(text), "x")

    again = service(answering)
    model_mapper(again, cache=kept, max_requests=windows - 2).map(source_of(text), "x")

    assert windows - 2 == len(again.questions)


def test_an_invented_answer_is_not_cached(text: Path, kept: AnswerCache) -> None:
    def inventing(question: Question) -> Line:
        return re.sub(r"Part \d heron", "Turbine ledger", answering(question))

    with pytest.raises(Exception, match=r"titles that are not in the file .*No answer was cached"):
        model_mapper(service(inventing), cache=kept).map(source_of(text), "x")

    assert 8 == len(model_mapper(service(answering), cache=kept).map(source_of(text), "x").nodes)


@pytest.mark.parametrize("bad", ["no JSON at all", "invented"])
def test_an_unusable_part_costs_only_the_answers_about_it(text: Path, kept: AnswerCache, bad: str) -> None:
    whole = service(answering)
    model_mapper(whole).map(source_of(text), "x")
    windows = len(whole.questions)

    def script(question: Question) -> Line:
        return bad if "Part 8 " in answering(question) else answering(question)

    whose = _mostly_invented if bad == "invented" else script
    with pytest.raises(FaultyAnswer, match="parts are cached: map the file again to request only the rest"):
        model_mapper(service(whose), cache=kept, concurrency=1).map(source_of(text), "x")
    again = service(answering)
    made = model_mapper(again, cache=kept).map(source_of(text), "x")

    assert (1 if bad != "invented" else windows - 1) == len(again.questions)
    assert 8 == len(made.nodes)


def _mostly_invented(question: Question) -> Line:
    good = answering(question)
    return good if "Part 1 " in good else re.sub(r"Part \d heron", "Turbine ledger", good)


def test_the_answers_that_arrive_after_a_part_failed_are_kept(text: Path, kept: AnswerCache) -> None:
    whole = service(answering)
    model_mapper(whole).map(source_of(text), "x")
    windows, failed = len(whole.questions), threading.Event()

    def script(question: Question) -> Line:
        return answering(question)

    class Late(ScriptedService):
        """A service that refuses the last part while all others are still being answered."""

        def ask(self, question: Question, progress: Progress) -> Reply:
            if "Part 8" in answering(question):
                failed.set()
                raise REFUSED
            failed.wait()
            for _ in range(10):
                time.sleep(0.05)
                progress(0, None, "still waiting")
            return super().ask(question, progress)

    slow = Late(script, limits_of=Limits(as_file=False, characters=1500))
    with pytest.raises(MapperUnavailable, match=f"The answers for {windows - 1} of {windows} parts are cached"):
        model_mapper(slow, cache=kept).map(source_of(text), "x")
    again = service(answering)
    model_mapper(again, cache=kept).map(source_of(text), "x")

    assert 1 == len(again.questions)


def test_a_key_that_a_model_repeats_is_in_no_stored_answer_or_map(text: Path, tmp_path: Path) -> None:
    secret = "AIza-secret-0123456789"
    asked: list[Question] = []

    def script(question: Question) -> Line:
        asked.append(question)
        given = (
            answering(question).replace(" heron", f" heron {secret}").replace('"summary": ""', f'"summary": "{secret}"')
        )
        return given if len(asked) < 3 else REFUSED

    kept = FileAnswerCache(tmp_path / "answers")
    mapper = model_mapper(
        service(script), cache=kept, concurrency=1, redact=lambda each: each.replace(secret, "(secret)")
    )

    with pytest.raises(MapperUnavailable):
        mapper.map(source_of(text), "x")
    stored = "".join(path.read_text() for path in (tmp_path / "answers").rglob("*.json"))
    made = evolve(mapper, service=service(answering)).map(source_of(text), "x")

    assert "(secret)" in stored + repr(made)
    assert secret not in stored + repr(made)


class TestStores:
    """The contract of `AnswerCache`."""

    ONE = CachedAnswer(
        Answer(
            title="A",
            items=(RawNode("nodes[0]", 2, {"title": "T", "first_page": 1}), RawNode("nodes[1]", 1, None, "no")),
        ),
        Usage(1, 2, 3),
        ("a note",),
        repaired=True,
    )

    def test_what_is_put_is_got(self, kept: AnswerCache) -> None:
        kept.put("map", "window", self.ONE)
        kept.put("map", "other", evolve(self.ONE, repaired=False))

        assert self.ONE == kept.get("map", "window")
        assert (2, 0) == (kept.count("map"), kept.count("another"))

    def test_what_is_dropped_is_gone(self, kept: AnswerCache) -> None:
        kept.put("map", "window", self.ONE)
        kept.put("another", "window", self.ONE)
        kept.drop("map")
        kept.drop("never")

        assert (None, 0, 1) == (kept.get("map", "window"), kept.count("map"), kept.count("another"))

    @pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"items": 3}', b'{"title": 1, "items": [[1]]}', b"\xff"])
    def test_a_damaged_answer_is_as_if_it_were_not_there(self, tmp_path: Path, damage: bytes) -> None:
        kept = FileAnswerCache(tmp_path)
        kept.put("map", "window", self.ONE)
        (path,) = tmp_path.rglob("*.json")
        path.write_bytes(damage)

        assert kept.get("map", "window") is None

    def test_an_answer_that_was_put_into_a_home_does_not_count(self, tmp_path: Path) -> None:
        kept, other = FileAnswerCache(tmp_path / "mine"), FileAnswerCache(tmp_path / "theirs")
        kept.put("map", "window", self.ONE)
        other.put("map", "window", self.ONE)
        (tmp_path / "mine" / "map" / "window.json").write_bytes(
            (tmp_path / "theirs" / "map" / "window.json").read_bytes()
        )

        assert (None, 0) == (kept.get("map", "window"), kept.count("map"))

    def test_a_folder_that_is_a_link_is_not_followed(self, tmp_path: Path) -> None:
        home = tmp_path / "home" / ".citekit_cache"
        home.mkdir(parents=True)
        (tmp_path / "outside").mkdir()
        (home / "answers").symlink_to(tmp_path / "outside")

        with pytest.raises(CiteKitError, match="link"):
            FileAnswerCache(home / "answers").drop("map")
        assert [] == list((tmp_path / "outside").iterdir())
