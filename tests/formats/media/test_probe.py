from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.domain.errors import CiteKitError, SourceUnsupported
from citekit.domain.ports.media_probe import Cue
from tests.formats.media.media_samples import encode_tone, ffmpeg, numbered_frame, write_audio, write_video

probe = PyAvProbe().probe


def test_a_video_is_detected_by_its_streams(tmp_path: Path) -> None:
    facts = probe(write_video(tmp_path / "film.mp4", seconds=3, rate=25))

    assert ("h264", "aac", (128, 96), 25.0) == (facts.video_codec, facts.audio_codec, facts.size, facts.frame_rate)
    assert 3.0 == pytest.approx(facts.duration, abs=0.03)


@pytest.mark.parametrize(("rotation", "size"), [(0, (128, 96)), (90, (96, 128)), (180, (128, 96)), (270, (96, 128))])
def test_the_size_is_that_of_the_upright_picture(tmp_path: Path, rotation: int, size: tuple[int, int]) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=1, audio=None, rotation=rotation)

    assert size == probe(path).size


def test_an_mp4_without_video_is_audio(tmp_path: Path) -> None:
    facts = probe(write_audio(tmp_path / "talk.mp4", seconds=2, codec="aac"))

    assert (None, None, None, "aac") == (facts.video_codec, facts.size, facts.frame_rate, facts.audio_codec)


def test_cover_art_is_not_a_video(tmp_path: Path) -> None:
    plain = write_audio(tmp_path / "plain.mp3", seconds=1, codec="libmp3lame")
    film = write_video(tmp_path / "film.mp4", seconds=0.2, audio=None)
    path = tmp_path / "cover.mp3"
    ffmpeg("-i", str(plain), "-i", str(film), "-map", "0:a", "-map", "1:v", "-frames:v", "1", "-c:v", "png",
           "-c:a", "copy", "-disposition:v", "attached_pic", str(path))  # fmt: skip

    facts = probe(path)

    assert (None, "mp3") == (facts.video_codec, facts.audio_codec)


def test_chapters_are_in_order(tmp_path: Path) -> None:
    marks = [(0.0, 1.0, "One"), (1.0, 2.5, "Two"), (2.5, 3.0, "Three")]

    facts = probe(write_video(tmp_path / "film.mkv", seconds=3, chapters=marks))

    assert tuple(Cue(*mark) for mark in marks) == facts.chapters


@pytest.mark.long
@pytest.mark.parametrize(
    ("suffix", "codec"), [(".mkv", "subrip"), (".mp4", "mov_text"), (".mkv", "ass"), (".webm", "webvtt")]
)
def test_text_subtitles_inside_are_read(tmp_path: Path, suffix: str, codec: str) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=4, audio=None)
    words = tmp_path / "words.srt"
    words.write_text("1\n00:00:00,500 --> 00:00:01,500\n<i>Hello</i>, world\n\n2\n00:00:02,000 --> 00:00:03,000\nBye\n")
    path = tmp_path / f"both{suffix}"
    video = ("libvpx",) if suffix == ".webm" else ("copy",)
    ffmpeg("-i", str(film), "-i", str(words), "-map", "0", "-map", "1", "-c:v", *video, "-c:s", codec, str(path))

    facts = probe(path)

    assert [(0.5, "Hello, world"), (2.0, "Bye")] == [(round(cue.start, 2), cue.text) for cue in facts.subtitles]
    assert [1.5, 3.0] == [round(cue.end, 2) for cue in facts.subtitles]


def test_tags_have_normalized_names(tmp_path: Path) -> None:
    plain = write_audio(tmp_path / "plain.mp3", seconds=1, codec="libmp3lame")
    path = tmp_path / "tagged.mp3"
    ffmpeg("-i", str(plain), "-c", "copy", "-metadata", "title=A  Talk", "-metadata", "artist=Ann", str(path))

    assert {"title": "A Talk", "artist": "Ann"} == dict(probe(path).tags)


def test_a_container_that_declares_too_much_is_measured(tmp_path: Path) -> None:
    path = _with_late_subtitle(tmp_path / "late.mkv")

    facts = probe(path)

    assert facts.declared is not None
    assert facts.declared > 600
    assert 2.0 == pytest.approx(facts.duration, abs=0.05)


@pytest.mark.long
def test_a_truncated_mp4_is_as_long_as_its_packets(tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    ffmpeg("-i", str(write_video(tmp_path / "film.mp4", seconds=6)), "-c", "copy", "-movflags", "+faststart", str(path))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    facts = probe(path)

    assert 6.0 == pytest.approx(facts.declared or 0, abs=0.1)
    assert 1.0 < facts.duration < 5.0


@pytest.mark.parametrize("data", [b"", b"\0" * 4096, b"ID3", struct.pack(">I4s", 16, b"ftyp") + b"isom\0\0\0\0"])
def test_an_unplayable_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "broken.mp4"
    path.write_bytes(data)

    with pytest.raises(SourceUnsupported):
        probe(path)


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_gives_metadata_or_one_clear_error(tmp_path: Path, data: st.DataObject) -> None:
    whole = tmp_path / "whole.mp4"
    if not whole.exists():
        write_video(whole, seconds=1)
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.mp4"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])

    try:
        duration = probe(path).duration
    except CiteKitError:
        return

    assert duration > 0


def _with_late_subtitle(path: Path) -> Path:
    """Write two seconds of film with one subtitle at minute eleven, so that the container declares that duration."""
    with av.open(str(path), "w") as output:
        video: Any = output.add_stream("libx264", rate=25)
        video.width, video.height, video.pix_fmt = 128, 96, "yuv420p"
        voice: Any = output.add_stream("aac", rate=48000, layout="mono")
        words: Any = output.add_mux_stream("subrip")
        words.time_base = Fraction(1, 1000)
        for number in range(50):
            frame = numbered_frame(number)
            frame.pts, frame.time_base = number, Fraction(1, 25)
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
        encode_tone(output, voice, 2.0)
        packet: Any = av.Packet(b"late")
        packet.stream, packet.time_base = words, Fraction(1, 1000)
        packet.pts = packet.dts = 660_000
        packet.duration = 2000
        output.mux(packet)
    return path


def test_a_video_of_one_frame_can_be_probed(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=0.04, audio=None)

    assert 0.04 == pytest.approx(probe(path).duration)


def test_a_stream_with_gradual_refresh_can_be_probed(tmp_path: Path) -> None:
    path = tmp_path / "film.ts"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=3", "-c:v", "libx264", "-x264-params",
           "keyint=infinite:intra-refresh=1", str(path))  # fmt: skip

    facts = probe(path)

    assert (128, 96) == facts.size
    assert 3.0 == pytest.approx(facts.duration, abs=0.05)
