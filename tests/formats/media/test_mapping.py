from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.outline.topics import topics_from_cues
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, make_nodes
from citekit.adapters.formats.subtitles.parser import decoded, find_sidecar, read_cues
from citekit.domain.errors import Cancelled
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue
from citekit.domain.progress import silent
from tests.formats.media.media_samples import ffmpeg, source, write_audio, write_video

SRT = "1\n00:00:00,500 --> 00:00:01,500\n<i>Hello</i>, world.\n\n2\n00:00:02,000 --> 00:00:03,000\nGood bye\n"


def outline(path: Path) -> Outline:
    return MediaOutliner(PyAvProbe()).outline(source(path), silent)


def spans(outline_items: Any) -> list[tuple[float, float | None]]:
    return [(outline_item.location.start, outline_item.location.end) for outline_item in outline_items]


def check(outline_items: Any, low: float, high: float) -> None:
    """Check that nodes are inside their parents, in order, and disjoint, at all levels."""
    for outline_item in outline_items:
        assert low <= outline_item.location.start < outline_item.location.end <= high
        check(outline_item.children, outline_item.location.start, outline_item.location.end)
    for before, after in pairwise(outline_items):
        assert before.location.end <= after.location.start


def test_chapters_of_the_container_come_first(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mkv", chapters=[(0.0, 2.0, "Start"), (2.0, 6.0, "End")])
    (tmp_path / "film.srt").write_text(SRT)

    found = outline(path)

    assert ["Start", "End"] == [outline_item.title for outline_item in found.items]
    assert [(0.0, 2.0), (2.0, 6.0)] == [(a, round(b or 0)) for a, b in spans(found.items)]


@pytest.mark.parametrize("name", ["film.srt", "film.en.srt"])
def test_sidecar_subtitles_make_topics(tmp_path: Path, name: str) -> None:
    path = _scenes(tmp_path / "film.mp4", [4.0])
    (tmp_path / name).write_text(SRT)

    found = outline(path)

    assert [(0.5, 3.0)] == spans(found.items)
    assert ("Hello, world. Good bye", "topic") == (found.items[0].summary, found.items[0].type)
    assert [(0.5, 1.5), (2.0, 3.0)] == spans(found.items[0].children)
    assert any(name in note for note in found.notes)


@pytest.mark.long
def test_embedded_subtitles_make_topics(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=4)
    (tmp_path / "words.srt").write_text(SRT)
    path = tmp_path / "both.mkv"
    ffmpeg("-i", str(film), "-i", str(tmp_path / "words.srt"), "-map", "0", "-map", "1", "-c", "copy", str(path))

    assert ["Hello, world. Good bye"] == [outline_item.title for outline_item in outline(path).items]


def test_scenes_start_where_the_picture_changes(tmp_path: Path) -> None:
    path = _scenes(tmp_path / "film.mp4", [2.0, 3.4, 2.6])

    found = outline(path)

    assert [(0.0, 2.0), (2.0, 5.4), (5.4, 8.0)] == [(a, round(b or 0, 3)) for a, b in spans(found.items)]
    assert ["Scene 1 (0:00-0:02)", "Scene 2 (0:02-0:05)", "Scene 3 (0:05-0:08)"] == [d.title for d in found.items]


def test_a_film_without_cuts_is_one_scene(tmp_path: Path) -> None:
    found = outline(_scenes(tmp_path / "film.mp4", [5.0]))

    assert [(0.0, 5.0)] == spans(found.items)


def test_audio_is_split_at_silence(tmp_path: Path) -> None:
    loud = [(0.5, 4.5), (6.0, 11.0), (13.0, 17.0)]
    path = tmp_path / "talk.wav"
    on = "+".join(f"between(t,{start},{end})" for start, end in loud)
    ffmpeg(
        "-f", "lavfi", "-i", "anoisesrc=r=16000:d=18:c=pink:seed=1", "-af", f"volume=0:enable='not({on})'", str(path)
    )

    found = outline(path)

    assert 3 == len(found.items)
    for (start, end), truth in zip(spans(found.items), loud, strict=True):
        assert truth == pytest.approx((start, end), abs=0.2)
    assert all(outline_item.location.modality is Modality.AUDIO for outline_item in found.items)


def test_an_even_tone_is_one_recording(tmp_path: Path) -> None:
    found = outline(write_audio(tmp_path / "talk.wav", seconds=5))

    assert [(0.0, 5.0)] == spans(found.items)


@pytest.mark.long
def test_an_mp4_without_video_is_mapped_as_audio(tmp_path: Path) -> None:
    found = outline(write_audio(tmp_path / "talk.mp4", seconds=5, codec="aac"))

    assert {Modality.AUDIO} == {outline_item.location.modality for outline_item in found.items}
    assert found.extent.size is None


@pytest.mark.long
def test_file_properties_are_in_the_metadata(tmp_path: Path) -> None:
    found = outline(write_video(tmp_path / "film.mp4", seconds=3))

    facts = dict(found.facts)
    assert 3.0 == pytest.approx(facts.pop("duration"), abs=0.03)
    assert {
        "dimensions": [128, 96],
        "frame_rate": 25.0,
        "container": "mov",
        "video_codec": "h264",
        "audio_codec": "aac",
    } == facts


def test_the_same_file_gives_the_same_ids(tmp_path: Path) -> None:
    path = _scenes(tmp_path / "film.mp4", [2.0, 3.0])

    first, second = make_nodes(outline(path)), make_nodes(outline(path))

    assert ["scene_1", "scene_2"] == [node.id for node in first]
    assert first == second


@pytest.mark.long
@pytest.mark.parametrize("name", ["film.mp4", "talk.wav"])
def test_mapping_can_be_cancelled(tmp_path: Path, name: str) -> None:
    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    path = write_audio(tmp_path / name) if name == "talk.wav" else write_video(tmp_path / name)

    with pytest.raises(Cancelled):
        MediaOutliner(PyAvProbe()).outline(source(path), stop)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", SRT),
        ("a.srt", SRT.replace("\n", "\r\n")),
        ("a.srt", "00:00:00,500 --> 00:00:01,500\nHello, world.\n00:00:02,000 --> 00:00:03,000\nGood bye"),
        ("a.vtt", "WEBVTT\n\nNOTE x\n\nid\n00:00.500 --> 00:01.500 align:start\n<v Ann>Hello, world.\n\n"
                  "00:02.000 --> 00:03.000\n<c.red>Good</c> bye\n"),
        ("a.ass", "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
                  "Dialogue: 0,0:00:00.50,0:00:01.50,Default,,0,0,0,,{\\i1}Hello, world.\n"
                  "Dialogue: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,Good\\Nbye\n"),
    ],
)  # fmt: skip
def test_subtitle_files_are_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())

    voice = "Ann" if "<v Ann>" in text else ""
    assert [Cue(0.5, 1.5, "Hello, world.", voice), Cue(2.0, 3.0, "Good bye")] == read_cues(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_subtitles_are_read_in_their_encoding(encoding: str) -> None:
    text = SRT.replace("Hello", "Où êtes-vous, madame, demanda le garçon étonné à la fenêtre")

    assert text == decoded(text.encode(encoding)).removeprefix("\ufeff")


def test_subtitles_without_a_language_take_precedence(tmp_path: Path) -> None:
    for name in ("film.de.srt", "film.srt", "filmed.srt", "film.mp4"):
        (tmp_path / name).write_text("x")

    assert tmp_path / "film.srt" == find_sidecar(tmp_path / "film.mp4")
    assert None is find_sidecar(tmp_path / "other.mp4")


times = st.floats(-10, 400, allow_nan=False)
cues = st.lists(st.builds(Cue, start=times, end=times, text=st.text("ab. ", max_size=8)), max_size=60)


@given(cues=cues, duration=st.floats(0.01, 300))
def test_topics_are_inside_the_file_and_disjoint(cues: list[Cue], duration: float) -> None:
    found: list[OutlineItem] = topics_from_cues(cues, duration, Modality.VIDEO)

    check(found, 0.0, duration)


@given(data=st.binary(max_size=400))
def test_malformed_subtitle_files_never_fail(data: bytes) -> None:
    assert isinstance(decoded(data), str)


def _scenes(path: Path, lengths: list[float]) -> Path:
    """Write a film of plain frames. Each scene has another brightness and a little movement."""
    with av.open(str(path), "w") as output:
        video: Any = output.add_stream("libx264", rate=25)
        video.width, video.height, video.pix_fmt = 128, 96, "yuv420p"
        for number, length in enumerate(lengths):
            for step in range(round(length * 25)):
                gray = 60 + 90 * (number % 2) + step % 3
                frame: Any = av.VideoFrame.from_bytes(bytes([gray, gray, gray, 255]) * (128 * 96), 128, 96, "rgba")
                output.mux(video.encode(frame.reformat(format="yuv420p")))
        output.mux(video.encode(None))
    return path


def test_spans_have_the_right_modality(tmp_path: Path) -> None:
    found = outline(write_video(tmp_path / "film.mp4", seconds=2))

    assert all(isinstance(outline_item.location, TimeSpan) for outline_item in found.items)
    assert {Modality.VIDEO} == {outline_item.location.modality for outline_item in found.items}
