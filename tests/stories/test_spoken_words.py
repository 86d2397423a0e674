"""A recording without subtitles has the words that a transcriber recognizes: in its map, searches, texts, and quotes."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import define

from citekit.application.verify_quote import HEARD, UNSURE
from citekit.container import Container, bootstrap
from citekit.domain.errors import MapperUnavailable, SourceUnsupported
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.verdict import Finding
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord
from tests.formats.media.speech_samples import write_sound

NAME = "scripted 1 (test)"


def passage(start: float, text: str, confidence: float = 0.9, *, is_doubtful: bool = False) -> SpokenPassage:
    """A passage with a word every half second."""
    words = [
        SpokenWord(start + number / 2, start + number / 2 + 0.4, f" {word}", confidence)
        for number, word in enumerate(text.split())
    ]
    return SpokenPassage(words=words, language="en", is_doubtful=is_doubtful)


@define
class Scripted:
    """A transcriber that hears the same in every recording."""

    passages: tuple[SpokenPassage, ...]
    runs: int = 0
    name: str = NAME
    version: str = "1"

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        self.runs += 1
        return Speech(passages=self.passages, transcriber=self.name)


TALK = (
    passage(1, "The bees leave the old hive in May."),
    passage(6, "They mumble along the rivers.", 0.3),
    passage(10, "Thanks for watching.", is_doubtful=True),
    passage(30, "Winter food is honey."),
)


def mapped(folder: Path, transcriber: Scripted) -> Container:
    write_sound(folder / "talk.wav", (0 for _ in range(40_000)), 1000)
    app = bootstrap(home=folder, transcriber=transcriber)
    app.ingest(folder / "talk.wav")
    return app


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return mapped(tmp_path, Scripted(TALK))


def test_topics_come_from_the_words_and_the_note_says_who_heard_them(app: Container) -> None:
    made = app.maps.get("talk")

    (topic,) = made.nodes
    titles = ["The bees leave the old hive in May.", "They mumble along the rivers.", "Winter food is honey."]
    assert ("topic", titles[0]) == (topic.type, topic.title)
    assert titles == [node.title for node in topic.children]
    assert "The structure was made from the recognized speech." in made.metadata["notes"]
    assert f"The words were recognized by {NAME}; they may contain errors." in made.metadata["notes"]
    assert "Thanks for watching" not in str(made)


def test_a_quote_is_found_at_the_time_of_its_words_and_says_that_a_machine_heard_it(app: Container) -> None:
    verdict = app.verify_quote("talk", "the old hive")

    assert (Finding.EXACT, True) == (verdict.finding, verdict.holds)
    assert "audio://talk#t=2.45-3.95" == str(verdict.places[0].address)
    assert HEARD.format(NAME) == verdict.places[0].note


@pytest.mark.parametrize("quote", ["mumble along the rivers", "Thanks for watching."])
def test_a_quote_with_low_confidence_is_never_exact(app: Container, quote: str) -> None:
    verdict = app.verify_quote("talk", quote)

    assert Finding.NORMALISED is verdict.finding
    assert (UNSURE,) == verdict.places[0].differences


def test_words_that_were_not_said_are_absent(app: Container) -> None:
    assert Finding.ABSENT is app.verify_quote("talk", "The bees leave the new hive in June").finding
    assert Finding.ABSENT is app.verify_quote("talk", "watching. Winter").finding


def test_words_are_searched_and_read(app: Container) -> None:
    found = app.find_text("winter honey", ["talk"])
    node = app.maps.get("talk").nodes[0].children[2]
    read = app.read_text("talk", node.id)

    assert "Winter food is honey." in found.hits[0].text
    assert "Winter food is honey." in read.text


def test_subtitles_are_used_instead_if_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nHello there.\n")
    transcriber = Scripted(TALK)

    app = mapped(tmp_path, transcriber)
    verdict = app.verify_quote("talk", "Hello there.")

    assert (0, Finding.EXACT, "") == (transcriber.runs, verdict.finding, verdict.places[0].note)


def test_the_text_for_quotes_is_transcribed_once(tmp_path: Path) -> None:
    transcriber = Scripted(TALK)
    app = mapped(tmp_path, transcriber)

    app.verify_quote("talk", "the old hive")
    again = bootstrap(home=tmp_path, transcriber=transcriber)
    again.verify_quote("talk", "the old hive")

    assert 2 == transcriber.runs  # for the map, and for the text


def test_a_recording_without_words_says_so(tmp_path: Path) -> None:
    app = mapped(tmp_path, Scripted(()))

    with pytest.raises(SourceUnsupported, match=r"no speech was recognized"):
        app.verify_quote("talk", "anything")


def test_without_a_transcriber_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEKIT_SPEECH", "off")
    write_sound(tmp_path / "talk.wav", (0 for _ in range(4000)), 1000)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "talk.wav")

    with pytest.raises(SourceUnsupported, match=r"install the extra 'speech'"):
        app.verify_quote("talk", "anything")


def test_a_missing_model_matters_only_for_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    monkeypatch.setenv("CITEKIT_SPEECH_MODEL", str(tmp_path / "nowhere"))
    write_sound(tmp_path / "talk.wav", (0 for _ in range(4000)), 1000)
    (tmp_path / "bees.md").write_text("# Bees\n\nThey live.\n")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "bees.md")

    assert app.verify_quote("bees_md", "They live.").holds
    assert app.find_text("live").hits
    with pytest.raises(MapperUnavailable, match=r"CITEKIT_SPEECH_MODEL"):
        app.ingest(tmp_path / "talk.wav")
