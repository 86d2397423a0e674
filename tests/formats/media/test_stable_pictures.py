"""Pictures that a video shows for a while are found with their times; what moves all the time is no such picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.formats.media.outline import stable_pictures
from citekit.adapters.formats.media.outline.stable_pictures import find_stable_pictures
from citekit.domain.errors import Cancelled
from citekit.domain.progress import silent
from tests.formats.media.media_samples import write_video
from tests.formats.media.slide_samples import RATE, SIZE, slide, write_slides

GOAL = slide(["Goal", "Count the bees of a hive"])
MEANS = slide(["Means", "Scales below the hive", "A camera at the entrance"])
END = slide(["Thank you"])


def spans(path: Path, duration: float) -> list[tuple[float, float]]:
    return [(each.start, each.end) for each in find_stable_pictures(path, duration, RATE, SIZE, silent)]


@pytest.mark.long
@pytest.mark.parametrize("is_short", [True, False])
def test_slides_are_found_beside_a_speaker_who_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_short: bool
) -> None:
    path = tmp_path / "talk.mp4"
    write_slides(path, [(12, GOAL), (15, MEANS), (8, END)])
    if not is_short:
        monkeypatch.setattr(stable_pictures, "DECODED_PIXELS", 0)

    found = spans(path, 35)

    assert 3 == len(found)
    for (start, end), (began, ended) in zip(found, [(0, 12), (12, 27), (27, 35)], strict=True):
        assert abs(start - began) <= 3 * stable_pictures.STEP  # the speaker is recognized after a second
        assert abs(end - ended) <= 2 * stable_pictures.STEP


@pytest.mark.long
def test_only_one_keyframe_of_a_long_video_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "talk.mp4"
    write_slides(path, [(10, GOAL), (10, MEANS)], interval=10_000, speaker=False)
    monkeypatch.setattr(stable_pictures, "DECODED_PIXELS", 0)

    assert [0.0, 10.0] == [round(start) for start, _ in spans(path, 20)]


@pytest.mark.long
def test_a_film_has_no_stable_pictures(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=6, audio=None)

    assert [] == list(find_stable_pictures(path, 6.0, 25.0, (128, 96), silent))


@pytest.mark.long
def test_it_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp4"
    write_slides(path, [(3, GOAL)])

    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        list(find_stable_pictures(path, 3, RATE, SIZE, stop))
