"""The text that a video shows is in its map, searches, texts, quotes, and evidence, and is marked as read by OCR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import define

from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.evidence import Form, Options
from citekit.domain.locations import TimeSpan
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.transcript import HEARD, SEEN
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.screen_text import ScreenLine, ScreenText, Slide
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord
from tests.formats.media.media_samples import write_video

READER = "scripted reader 1"
HEARER = "scripted 1 (test)"


@define
class Reading:
    """A screen reader that reads the same in every video."""

    slides: tuple[Slide, ...]
    runs: int = 0
    name: str = READER
    version: str = "reading 1"

    def read(self, source: Source, progress: Progress = silent) -> ScreenText:
        self.runs += 1
        return ScreenText(slides=self.slides, reader=self.name)


@define
class Hearing:
    """A transcriber that hears the same in every recording."""

    passages: tuple[SpokenPassage, ...]
    name: str = HEARER
    version: str = "hearing 1"

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        return Speech(passages=self.passages, transcriber=self.name)


def slide(start: float, end: float, *lines: str) -> Slide:
    return Slide(start=start, end=end, title=lines[0], lines=[ScreenLine(start, end, line) for line in lines])


def said(start: float, text: str) -> SpokenPassage:
    words = [SpokenWord(start + n / 2, start + n / 2 + 0.4, f" {word}", 0.9) for n, word in enumerate(text.split())]
    return SpokenPassage(words=words, language="en")


SLIDES = (slide(0, 20, "Goal", "Count the bees of a hive"), slide(20, 38, "Means", "Scales below the hive"))
SPEECH = (said(2, "We would like to know more."), said(22, "It weighs forty kilograms."))


def mapped(folder: Path, slides: tuple[Slide, ...], speech: tuple[SpokenPassage, ...] = ()) -> Container:
    write_video(folder / "talk.mp4", seconds=40, rate=2, gop=20, audio="aac" if speech else None)
    app = bootstrap(home=folder, screen_reader=Reading(slides), transcriber=Hearing(speech))
    app.ingest(folder / "talk.mp4")
    return app


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return mapped(tmp_path, SLIDES, SPEECH)


@pytest.mark.long
def test_a_lecture_has_a_node_for_each_slide_with_its_text_and_what_is_said_over_it(app: Container) -> None:
    made = app.maps.get("talk")

    assert [("slide", "Goal"), ("slide", "Means")] == [(node.type, node.title) for node in made.nodes]
    assert "Shown: Goal Count the bees of a hive Said: We would like to know more." == made.nodes[0].summary
    assert ["We would like to know more."] == [node.title for node in made.nodes[0].children]
    assert [(0, 20), (20, 40)] == [(node.location.start, node.location.end) for node in made.nodes]  # type: ignore[union-attr]
    assert f"The text on the screen was recognized by {READER}; it may contain errors." in made.metadata["notes"]


@pytest.mark.long
def test_a_quote_from_a_slide_has_its_time_and_says_that_ocr_read_it(app: Container) -> None:
    verdict = app.verify_quote("talk", "Scales below the hive")

    assert Finding.EXACT is verdict.finding
    assert "video://talk#t=20-38" == str(verdict.places[0].address)
    assert SEEN.format(READER) == verdict.places[0].note
    assert HEARD.format(HEARER) == app.verify_quote("talk", "weighs forty kilograms").places[0].note


@pytest.mark.long
def test_what_is_shown_is_found_and_read_beside_what_is_said(app: Container) -> None:
    found = app.find_text("scales hive", ["talk"])
    read = app.read_text("talk", "video://talk#t=22-30")

    assert "video://talk#t=20-38" == str(found.hits[0].address)
    assert "[time 00:00:20, on the screen]\nMeans\nScales below the hive" in read.text
    assert "It weighs forty kilograms." in read.text
    assert {SEEN.format(READER), HEARD.format(HEARER)} == set(read.notes)


@pytest.mark.long
def test_the_text_of_a_part_also_has_what_is_shown_and_its_receipt_says_so(app: Container) -> None:
    evidence = app.resolve(parse_address("video://talk#t=21-30"), options=Options(Form.TEXT))
    subtitles = app.resolve(parse_address("video://talk#t=21-30"), options=Options(Form.VTT))

    assert evidence.output_path is not None
    assert subtitles.output_path is not None
    assert evidence.receipt is not None
    assert (
        "It weighs forty kilograms.\n\nOn the screen:\nMeans\nScales below the hive\n"
        == evidence.output_path.read_text()
    )
    assert SEEN.format(READER) in evidence.receipt.notes
    assert "Scales" not in subtitles.output_path.read_text()


@pytest.mark.long
def test_a_silent_screencast_has_the_text_on_the_screen(tmp_path: Path) -> None:
    app = mapped(tmp_path, SLIDES)
    evidence = app.resolve(parse_address("video://talk#t=21-30"), options=Options(Form.VTT))

    assert evidence.output_path is not None
    assert evidence.receipt is not None
    assert re.search(r"00:00[.:].*Means\nScales below the hive", evidence.output_path.read_text(), re.DOTALL)
    assert SEEN.format(READER) in evidence.receipt.notes
    assert [SEEN.format(READER)] == list(app.read_text("talk").notes)


@pytest.mark.long
def test_a_film_with_a_title_keeps_its_scenes(tmp_path: Path) -> None:
    app = mapped(tmp_path, (slide(1, 4, "The Bees", "A film"),))
    nodes = app.maps.get("talk").nodes
    shown = [node for scene in nodes for node in scene.children if node.type == "slide"]

    assert {"scene"} == {node.type for node in nodes}
    assert ["The Bees"] == [node.title for node in shown]
    assert isinstance(shown[0].location, TimeSpan)


@pytest.mark.long
def test_nothing_is_read_twice(tmp_path: Path) -> None:
    reading = Reading(SLIDES)
    write_video(tmp_path / "talk.mp4", seconds=40, rate=2, gop=20, audio=None)
    app = bootstrap(home=tmp_path, screen_reader=reading)
    app.ingest(tmp_path / "talk.mp4")
    app.verify_quote("talk", "Count the bees")
    runs = reading.runs
    app.verify_quote("talk", "Scales below")

    assert runs == reading.runs
