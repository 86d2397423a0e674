"""A recording without subtitles has the words that a transcriber recognizes: in its map, searches, texts, and quotes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.subtitles.parser import read_cues
from citekit.adapters.formats.subtitles.writer import sub_rip, web_vtt
from citekit.application.verify_quote import UNSURE
from citekit.container import Container, bootstrap
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import FormUnsupported, MapperUnavailable, SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.ports.media_probe import Cue
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.transcript import HEARD, TIMED
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord
from citekit.settings import Settings
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
    version: str = "scripted 1"

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        self.runs += 1
        return Speech(passages=self.passages, transcriber=self.name)


TALK = (
    passage(1, "The bees leave the old hive in May."),
    passage(6, "They mumble along the rivers.", 0.3),
    passage(10, "Thanks for watching.", is_doubtful=True),
    passage(30, "Winter food is honey."),
)


def mapped(folder: Path, transcriber: Scripted | None) -> Container:
    write_sound(folder / "talk.wav", (0 for _ in range(40_000)), 1000)
    settings = Settings(home=folder, speech=False)
    app = bootstrap(settings) if transcriber is None else bootstrap(home=folder, transcriber=transcriber)
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
    assert HEARD.format(NAME) in read.notes


def test_the_viewer_shows_passages(app: Container) -> None:
    shown = list(app.show.transcript("talk").cues())

    assert [each.text for each in TALK] == [text for _, _, text in shown]


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


def test_without_a_transcriber_the_error_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEKIT_SPEECH", "off")
    write_sound(tmp_path / "talk.wav", (0 for _ in range(4000)), 1000)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "talk.wav")

    with pytest.raises(SourceUnsupported, match="set CITEKIT_SPEECH to on"):
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


@pytest.mark.parametrize(
    ("form", "suffix", "expected"),
    [
        ("text", ".txt", "The bees leave the old hive in May.\n"),
        ("vtt", ".vtt", "WEBVTT\n\n00:00:00.500 --> 00:00:04.400\nThe bees leave the old hive in May.\n"),
        ("srt", ".srt", "1\n00:00:00,500 --> 00:00:04,400\nThe bees leave the old hive in May.\n"),
    ],
)
def test_what_is_said_in_a_part_is_evidence_with_a_receipt_that_names_the_transcriber(
    tmp_path: Path, form: str, suffix: str, expected: str
) -> None:
    app = mapped(tmp_path, Scripted(TALK))

    evidence = app.resolve(parse_address("audio://talk#t=0.5-5.5"), options=Options(Form(form)))

    assert evidence.output_path is not None
    assert (suffix, expected) == (evidence.output_path.suffix, evidence.output_path.read_text())
    assert evidence.receipt is not None
    assert ("transcript", "1 scripted 1") == (evidence.receipt.extractor.name, evidence.receipt.extractor.version)
    assert any(f"This text was produced by speech recognition ({NAME})" in note for note in evidence.receipt.notes)


def test_words_with_low_confidence_are_counted_in_the_receipt(app: Container) -> None:
    evidence = app.resolve(parse_address("audio://talk#t=5-12"), options=Options(Form.TEXT))

    assert evidence.receipt is not None
    assert "The transcriber is unsure of 8 of the words." in evidence.receipt.notes


def test_a_part_in_which_nothing_is_said_has_no_text(app: Container) -> None:
    with pytest.raises(FormUnsupported, match="No words were found in this part"):
        app.resolve(parse_address("audio://talk#t=20-25"), options=Options(Form.VTT))


SAID_BY = """WEBVTT

00:01.000 --> 00:03.000
<v Anna Lee>Hello there.

00:04.000 --> 00:06.000
<v.loud Bo>So &amp; so.
"""


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("text", "Anna Lee: Hello there.\nBo: So & so.\n"),
        (
            "vtt",
            "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v Anna Lee>Hello there.\n\n"
            "00:00:03.000 --> 00:00:05.000\n<v Bo>So &amp; so.\n",
        ),
        (
            "srt",
            "1\n00:00:00,000 --> 00:00:02,000\nAnna Lee: Hello there.\n\n"
            "2\n00:00:03,000 --> 00:00:05,000\nBo: So & so.\n",
        ),
    ],
)
def test_subtitles_in_a_sidecar_file_are_evidence_with_the_names_of_speakers(
    tmp_path: Path, form: str, expected: str
) -> None:
    """They need no transcriber, and a changed file gives other evidence."""
    subtitles = tmp_path / "talk.vtt"
    subtitles.write_text(SAID_BY)
    app = mapped(tmp_path, None)
    asked = parse_address("audio://talk#t=1-7")

    evidence = app.resolve(asked, options=Options(Form(form)))
    subtitles.write_text(SAID_BY.replace("Hello", "Goodbye"))
    after = app.resolve(asked, options=Options(Form(form)))

    assert evidence.receipt is not None
    assert after.receipt is not None
    assert after.output_path is not None
    assert expected.replace("Hello", "Goodbye") == after.output_path.read_text()
    assert "The words are those of the subtitles in talk.vtt." in evidence.receipt.notes
    assert evidence.receipt.key != after.receipt.key


@pytest.mark.parametrize(("name", "places"), [("talk.wav", ["1-3", "4-6"]), ("talk.vtt", ["3-5", "6-7"])])
def test_turns_of_speakers_are_nodes_with_their_names(tmp_path: Path, name: str, places: list[str]) -> None:
    (tmp_path / "talk.vtt").write_text(SAID_BY)
    app = mapped(tmp_path, None)
    turns = app.ingest(tmp_path / name).resource_map.nodes[-1].children

    assert [("turn", "Anna Lee: Hello there."), ("turn", "Bo: So & so.")] == [(each.type, each.title) for each in turns]
    assert places == [str(Address("x", each.location)).rpartition("=")[2] for each in turns]


def test_words_without_subtitles_need_a_transcriber(tmp_path: Path) -> None:
    with pytest.raises(
        FormUnsupported, match=r"no subtitles, and speech recognition .* a model \(citekit models get base\)"
    ):
        mapped(tmp_path, None).resolve(parse_address("audio://talk#t=1-3"), options=Options(Form.VTT))


def test_a_long_topic_is_named_by_a_sentence_that_is_really_said(tmp_path: Path) -> None:
    said = [
        "So, um, let us go on from here.",
        "The boiler in the cellar of the school is forty years old.",
        "It is noisy, as you all know very well by now.",
        "A new boiler for the school costs eleven thousand dollars.",
        "I asked around, and that is about what others have paid.",
        "The school pays half, and the boiler comes before winter.",
    ]
    cues = [f"00:{10 * at:02}.000 --> 00:{10 * at + 9:02}.000\n{text}\n" for at, text in enumerate(said[:4])]
    (tmp_path / "talk.vtt").write_text("\n".join(["WEBVTT\n", *cues[:3], cues[3].rstrip() + f" {said[4]} {said[5]}\n"]))

    (topic,) = mapped(tmp_path, None).maps.get("talk").nodes

    assert (said[5], said[5]) == (topic.title, topic.summary)


CUES = st.lists(
    st.tuples(st.integers(0, 40_000_000), st.integers(1, 60_000), st.text("ab &<>é.", min_size=1, max_size=20)),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize(("suffix", "write"), [(".vtt", web_vtt), (".srt", sub_rip)])
@given(CUES)
def test_written_subtitles_are_read_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    suffix: str,
    write: Callable[[Iterable[Cue]], str],
    numbers: list[tuple[int, int, str]],
) -> None:
    cues = [
        Cue(start / 1000, (start + length) / 1000, f"x {' '.join(text.split())} x")
        for start, length, text in sorted(numbers)
        if suffix == ".vtt" or not set("<>&") & set(text)
    ]
    path = tmp_path_factory.mktemp("subtitles") / f"a{suffix}"
    path.write_text(write(cues), "utf-8")

    found = read_cues(path, 1e6)

    assert [(cue.start, cue.end, " ".join(cue.text.split())) for cue in cues] == [
        (round(cue.start, 3), round(cue.end, 3), " ".join(cue.text.split())) for cue in found
    ]


def test_subtitles_get_the_times_of_words_that_are_also_recognized(tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text("1\n00:00:00,500 --> 00:00:09,000\nThe BEES leave the old hive in May!\n")
    write_sound(tmp_path / "talk.wav", (0 for _ in range(40_000)), 1000)
    app = bootstrap(Settings(home=tmp_path, speech_always=True), transcriber=Scripted(TALK))
    app.ingest(tmp_path / "talk.wav")

    verdict = app.verify_quote("talk", "the old hive")
    again = bootstrap(Settings(home=tmp_path, speech_always=True), transcriber=Scripted(TALK))

    assert (Finding.EXACT, TIMED.format(NAME)) == (verdict.finding, verdict.places[0].note)
    assert "audio://talk#t=2.45-3.95" == str(verdict.places[0].address)
    assert "The BEES leave the old hive in May!" in app.read_text("talk").text
    assert verdict == again.verify_quote("talk", "the old hive")
