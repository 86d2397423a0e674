from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from citekit.adapters.formats.media.outline import scenes
from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.outline.scenes import find_cuts, keyframe_intervals
from citekit.adapters.formats.media.outline.time_segments import add_scenes
from citekit.adapters.formats.media.outline.transitions import find_transitions
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.locations import TimeSpan
from citekit.domain.progress import silent
from tests.formats.media.media_samples import source

SIZE = (64, 54)
RATE = 25
BLACK = Image.new("L", SIZE, 16)


def texture(seed: int, size: tuple[int, int] = SIZE) -> Image.Image:
    """Return a picture of soft blotches, different for each seed."""
    coarse = Image.frombytes("L", (8, 6), random.Random(seed).randbytes(48))
    return coarse.resize(size, Image.Resampling.BILINEAR)


def shot(seed: int, seconds: float, speed: int = 0) -> list[Image.Image]:
    """Return the frames of a shot of one texture in which the camera moves by `speed` pixels per frame."""
    wide = texture(seed, (SIZE[0] * 4, SIZE[1]))
    count = round(seconds * RATE)
    return [wide.crop((step * speed, 0, step * speed + SIZE[0], SIZE[1])) for step in range(count)]


def blended(one: Image.Image, other: Image.Image, seconds: float) -> list[Image.Image]:
    count = round(seconds * RATE)
    return [Image.blend(one, other, (step + 1) / (count + 1)) for step in range(count)]


def transition_times(*parts: list[Image.Image]) -> list[tuple[str, float]]:
    pictures = [each for part in parts for each in part]
    timed = [(number / RATE, each) for number, each in enumerate(pictures)]
    return [(each.kind, each.time) for each in find_transitions(timed)]


def test_a_cut_is_located_to_the_frame() -> None:
    assert [("cut", 2.0), ("cut", 3.0)] == transition_times(shot(1, 2), shot(2, 1), shot(3, 20))


def test_a_dissolve_is_found_at_its_middle() -> None:
    for seconds in (0.5, 1.0):
        [(kind, time)] = transition_times(
            shot(1, 3), blended(texture(1, (256, 54)).crop((0, 0, *SIZE)), texture(2), seconds), [texture(2)] * 75
        )

        assert "dissolve" == kind
        assert 3 + seconds / 2 == pytest.approx(time, abs=0.25)


def test_a_fade_through_black_is_one_transition_at_its_middle() -> None:
    [(kind, time)] = transition_times(
        [texture(1)] * 75,
        blended(texture(1), BLACK, 0.4),
        [BLACK] * 5,
        blended(BLACK, texture(2), 0.4),
        [texture(2)] * 75,
    )

    assert "fade" == kind
    assert 3.5 == pytest.approx(time, abs=0.2)


def test_a_flash_is_not_a_cut() -> None:
    white = Image.new("L", SIZE, 250)

    assert [] == transition_times(shot(1, 3), [white] * 2, shot(1, 3))


def test_a_moving_camera_is_not_a_cut() -> None:
    assert [] == transition_times(shot(1, 3, speed=2))


def test_black_at_the_start_is_not_a_scene() -> None:
    assert [] == transition_times([BLACK] * 20, blended(BLACK, texture(1), 0.5), [texture(1)] * 60)


def write_shots(path: Path, lengths: list[float], gop: int, codec: str = "libx264") -> Path:
    """Write a film of 128 x 96 pixels. Each shot shows another texture, and there is a keyframe only every `gop`
    frames.
    """
    with av.open(str(path), "w") as output:
        video: Any = output.add_stream(codec, rate=RATE)
        video.width, video.height, video.pix_fmt, video.gop_size = 128, 96, "yuv420p", gop
        if codec == "libx264":
            video.codec_context.options = {
                "x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0",
                "preset": "ultrafast",
            }
        for seed, length in enumerate(lengths):
            pixels = texture(seed, (128, 96)).convert("RGBA")
            frame: Any = av.VideoFrame.from_bytes(pixels.tobytes(), 128, 96, "rgba")
            for _ in range(round(length * RATE)):
                output.mux(video.encode(frame.reformat(format="yuv420p")))
        output.mux(video.encode(None))
    return path


@pytest.mark.parametrize(("name", "codec"), [("film.mp4", "libx264"), ("film.avi", "mpeg4")])
def test_a_cut_between_keyframes_is_found_without_decoding_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, codec: str
) -> None:
    lengths = [5.0, 1.2, 6.8, 3.0]
    path = write_shots(tmp_path / name, lengths, 50, codec)
    monkeypatch.setattr(scenes, "FULL_DECODE_BUDGET", 0)

    cuts = find_cuts(path, 16.0, RATE, (128, 96), silent)

    assert [5.0, 6.2, 13.0] == [round(time, 2) for time in cuts.times]
    assert not cuts.keyframes_only


def test_parts_without_changes_are_not_decoded(tmp_path: Path) -> None:
    path = write_shots(tmp_path / "film.mp4", [8.0], 50)

    parts = keyframe_intervals(path, 8.0, silent)

    assert [False] * 3 == [part.change >= 6 or bool(part.outliers) for part in parts[:-1]]
    assert all(before.end_packet == after.first_packet for before, after in pairwise(parts))


def test_only_keyframes_of_a_very_long_film_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_shots(tmp_path / "film.mp4", [4.0, 4.0], 25)
    monkeypatch.setattr(scenes, "FULL_DECODE_BUDGET", 0)
    monkeypatch.setattr(scenes, "PARTIAL_DECODE_BUDGET", 0)

    cuts = find_cuts(path, 8.0, RATE, (128, 96), silent)

    assert (True, [4.0]) == (cuts.keyframes_only, [round(time, 1) for time in cuts.times])


def test_scenes_are_children_of_subtitle_topics(tmp_path: Path) -> None:
    path = write_shots(tmp_path / "film.mp4", [2.0, 4.0], 100)
    cues = "1\n00:00:00,500 --> 00:00:01,500\nHello, world.\n\n2\n00:00:03,000 --> 00:00:04,000\nGood bye\n"
    (tmp_path / "film.srt").write_text(cues)

    [topic] = MediaOutliner(PyAvProbe()).outline(source(path), silent).items

    assert ["Scene 1 (0:00-0:02)", "Scene 2 (0:02-0:04)"] == [outline_item.title for outline_item in topic.children]
    assert ["Hello, world.", "Good bye"] == [outline_item.summary for outline_item in topic.children]
    assert [["Hello, world."], ["Good bye"]] == [
        [cue.title for cue in outline_item.children] for outline_item in topic.children
    ]


def test_a_cue_that_crosses_a_cut_stays_whole() -> None:
    cue = OutlineItem("Said over a cut", "cue", TimeSpan(1.0, 3.0))
    topic = OutlineItem("Topic", "topic", TimeSpan(0.0, 4.0), children=[cue])

    [outline_item] = add_scenes([topic], [2.0], 4.0)

    assert ["scene", "cue", "scene"] == [child.type for child in outline_item.children]
    assert cue in outline_item.children
