"""A question that names a printed page, a line, or a minute is answered from there."""

from __future__ import annotations

import wave
from pathlib import Path

import pymupdf
import pytest

from citekit.container import Container, bootstrap
from citekit.domain.locations import Lines, Pages, TimeSpan


def make_pdf(path: Path) -> Path:
    """A PDF of 24 pages, the first eight of which are printed as i to viii, and the others from 1 on."""
    with pymupdf.Document() as document:  # type: ignore[no-untyped-call]
        for number in range(1, 25):
            document.new_page().insert_text((72, 72), f"On this page, the gardener plants rose number {number}.")
        rules = [{"startpage": 0, "style": "r"}, {"startpage": 8, "style": "D"}]
        document.set_page_labels(rules)
        document.save(path)
    return path


def make_recording(path: Path) -> Path:
    """Two minutes of silence with a subtitle every ten seconds."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * 8000 * 120)
    cues = (
        f"{at}\n00:{at // 6:02}:{at % 6}0,000 --> 00:{at // 6:02}:{at % 6}9,000\nBees again. {'Bees hum. ' * 150}"
        for at in range(12)
    )
    path.with_suffix(".srt").write_text("\n\n".join(cues) + "\n")
    return path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    home = tmp_path_factory.mktemp("home")
    app = bootstrap(home=home)
    text = home / "roses.txt"
    text.write_text(
        "".join(f"The gardener looks at the roses, one after the other, on day {at}.\n" for at in range(900))
    )
    for path in (make_pdf(home / "garden.pdf"), make_recording(home / "talk.wav"), text):
        app.ingest(path)
    return app


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Which rose does the gardener plant on page vi?", 6),
        ("What does the gardener plant on page 14?", 22),
        ("What does the gardener do on the last page?", 24),
    ],
)
def test_a_printed_page_number_is_understood(app: Container, question: str, page: int) -> None:
    found = [each.extent for each in app.rank_pages(question, ["garden"], limit=2).pages]

    assert any(isinstance(each, Pages) and page in each.numbers for each in found)


@pytest.mark.parametrize(
    "question", ["What is in line 640?", "Was tut der gardener in Zeile 640?", "the roses in lines 638-640"]
)
def test_a_line_number_is_understood(app: Container, question: str) -> None:
    (best,) = app.rank_pages(question, ["roses_txt"], limit=1).pages

    assert isinstance(best.extent, Lines)
    assert best.extent.first <= 640 <= best.extent.last


@pytest.mark.parametrize("question", ["What is said about bees at 1:25?", "What hums in minute 1?", "the 2nd minute"])
def test_a_time_is_understood(app: Container, question: str) -> None:
    (best,) = app.rank_pages(question, ["talk"], limit=1).pages

    assert isinstance(best.extent, TimeSpan)
    assert 60 <= best.extent.start < 120
