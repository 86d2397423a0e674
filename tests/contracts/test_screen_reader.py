"""What everybody promises who reads the text in videos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from citekit.adapters.libraries import rapidocr
from citekit.container import Container, bootstrap
from citekit.domain.ports.screen_reader import ScreenReader
from citekit.domain.screen_text import ScreenText
from citekit.settings import Settings
from tests.formats.media.media_samples import write_audio
from tests.formats.media.slide_samples import slide, write_slides
from tests.formats.media.speech_samples import source_at

pytestmark = [pytest.mark.long, pytest.mark.skipif(not rapidocr.installed(), reason="needs the extra 'ocr'")]


@pytest.fixture(scope="module", params=("inline", "subprocess"))
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    made = bootstrap(Settings(home=tmp_path_factory.mktemp("home"), parsers=request.param))
    yield made
    if made.workers is not None:
        made.workers.close()


@pytest.fixture(scope="module")
def reader(app: Container) -> ScreenReader:
    assert app.screen_reader is not None
    return app.screen_reader


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A talk with a blank picture, a slide whose second line appears after 6 s, and another slide."""
    path = tmp_path_factory.mktemp("talk") / "talk.mp4"
    goal = ["Goal", "Count the bees of a hive"]
    shown = [(4, slide([])), (6, slide(goal)), (6, slide([*goal, "Every morning in May"])), (6, slide(["Thank you"]))]
    write_slides(path, shown)
    return path


@pytest.fixture(scope="module")
def screen(reader: ScreenReader, talk: Path) -> ScreenText:
    return reader.read(source_at(talk))


def test_the_text_is_what_is_shown(screen: ScreenText) -> None:
    assert ["Goal", "Thank you"] == [slide.title for slide in screen.slides]
    assert "Goal\nCount the bees of a hive\nEvery morning in May" == screen.slides[0].text


def test_times_are_those_at_which_lines_appear(screen: ScreenText) -> None:
    first, last = screen.slides
    assert [4, 4, 10] == [pytest.approx(line.start, abs=1.5) for line in first.lines]
    assert 16 == pytest.approx(first.end, abs=1.0)
    assert 16 == pytest.approx(last.start, abs=1.0)
    assert all(slide.start <= line.start < line.end <= slide.end for slide in screen.slides for line in slide.lines)


def test_the_same_video_gives_the_same_text(reader: ScreenReader, talk: Path, screen: ScreenText) -> None:
    assert screen == reader.read(source_at(talk))


def test_the_text_names_the_software(reader: ScreenReader, screen: ScreenText) -> None:
    assert reader.name == screen.reader
    assert "RapidOCR" in screen.reader


def test_a_recording_without_pictures_shows_nothing(reader: ScreenReader, tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    write_audio(path, seconds=1)
    assert () == reader.read(source_at(path)).slides
