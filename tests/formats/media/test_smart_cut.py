"""Accurate clips: exact to the frame, nothing hidden before them, and copied as far as possible."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.evidence.h264 import (
    AvcConfiguration,
    exp_golomb,
    is_idr,
    nal_units,
    to_mp4_sample,
)
from citekit.domain.evidence import Extraction, Options
from citekit.domain.locations import TimeSpan
from tests.formats.media.media_samples import FFMPEG, ffmpeg, inspect, source, write_video
from tests.representatives import representatives

ACCURATE = Options(accurate=True)


def cut(path: Path, target: Path, start: float, end: float) -> Extraction:
    return PyAvClipExtractor().extract(source(path), TimeSpan(start, end), ACCURATE, target)


def hashes(path: Path) -> list[str]:
    """Return one hash for each decoded frame."""
    log = ffmpeg("-v", "error", "-i", str(path), "-an", "-fps_mode", "passthrough", "-f", "framemd5", "-", data=True)
    return [line.split(",")[-1].strip() for line in log.stdout.decode().splitlines() if not line.startswith("#")]


@pytest.mark.long
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 140), count=st.integers(1, 100), profile=st.sampled_from(["baseline", "main", "high"]))
def test_an_accurate_clip_has_the_requested_frames_and_copies_from_the_next_keyframe(
    tmp_path: Path, first: int, count: int, profile: str
) -> None:
    path, target = tmp_path / f"{profile}.mp4", tmp_path / "clip"
    if not path.exists():
        write_video(path, options={"profile": profile}, gop=25)
    target.unlink(missing_ok=True)
    last = min(first + count, 150)

    extraction = cut(path, target, first / 25, last / 25)

    clip = inspect(target)
    join = -(-first // 25) * 25
    assert list(range(first, last)) == clip.pictures
    assert (0.0, "") == (clip.start, clip.complaints)
    assert hashes(path)[join:last] == hashes(target)[join - first :] or join >= last
    assert TimeSpan(first / 25, last / 25) == extraction.extent or last == 150
    assert extraction.bytes_from is None


@pytest.mark.long
def test_notes_describe_the_re_encoding(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4")

    assert ("The video was re-encoded up to the keyframe at 2 s; the rest is a copy.",) == cut(
        path, tmp_path / "a", 1.5, 3
    ).notes
    assert ("Nothing was re-encoded: the clip begins at a keyframe.",) == cut(path, tmp_path / "b", 2, 3).notes
    assert ("All video of the clip was re-encoded, because no keyframe suitable for a join was found in it.",) == cut(
        path, tmp_path / "c", 2.5, 3.5
    ).notes


@pytest.mark.long
def test_an_open_group_of_pictures_is_not_joined(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", options={"x264-params": "keyint=25:min-keyint=25:scenecut=0:open-gop=1"})

    extraction = cut(path, tmp_path / "clip", 1.5, 4.5)

    clip = inspect(tmp_path / "clip")
    assert (list(range(37, 113)), "") == (clip.pictures, clip.complaints)
    assert "All video of the clip" in extraction.notes[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "codec", "audio", "size"),
    representatives(
        [
            ("film.webm", "libvpx", "libopus", (128, 96)),
            ("film.mkv", "libx265", "flac", (128, 96)),
            ("film.mpg", "mpeg2video", "mp2", (128, 96)),
            ("film.avi", "mpeg4", "libmp3lame", (128, 96)),
            ("odd.mkv", "ffv1", "pcm_s16le", (135, 97)),
        ],
        2,
    ),
)
def test_clips_of_other_codecs_are_encoded_completely(
    tmp_path: Path, name: str, codec: str, audio: str, size: tuple[int, int]
) -> None:
    path = write_video(tmp_path / name, codec=codec, audio=audio, size=size)

    extraction = cut(path, tmp_path / "clip", 1.5, 3.1)

    clip = inspect(tmp_path / "clip")
    assert 41 == pytest.approx(len(clip.pictures), abs=1)
    assert 1.6 == pytest.approx(clip.duration, abs=0.05)
    assert 1.6 == pytest.approx(clip.samples / 48000, abs=0.06)
    assert (0.0, "", ".mp4") == (clip.start, clip.complaints, extraction.suffix)
    assert "All video of the clip" in extraction.notes[0]


def test_one_record_holds_the_parameter_sets_of_two_encodings() -> None:
    record = AvcConfiguration(b"\x64\x00\x1f", (b"\x67\x64\x00\x1f\x80",), (b"\x68\x80",), b"\xfd\xf8\xf8\x00")

    both = record.with_sets([b"\x67\x64\x00\x1f\x03\xff", b"\x68\x03\xff", b"\x06\x05"])

    assert both == AvcConfiguration.read(both.to_bytes())
    assert {0} == record.set_ids()
    assert 4 == len(both.sps) + len(both.pps)


@given(number=st.integers(0, 60_000))
def test_an_exp_golomb_number_is_read(number: int) -> None:
    bits = f"{number + 1:b}"
    text = "0" * (len(bits) - 1) + bits
    data = int(text.ljust(64, "0"), 2).to_bytes(8, "big")

    assert number == exp_golomb(data)


def test_a_sample_has_lengths_and_no_parameter_sets() -> None:
    stream = b"\0\0\0\1\x67\x01" + b"\0\0\0\1\x68\x02" + b"\0\0\1\x06\x03" + b"\0\0\1\x65\x88\x84"

    sample = to_mp4_sample(stream)

    assert 4 == len(nal_units(stream))
    assert b"\0\0\0\x03\x65\x88\x84" == sample
    assert is_idr(sample)
    assert not is_idr(b"\0\0\0\x03\x41\x88\x84")


@pytest.mark.parametrize(
    "data", [b"", b"\x01", b"\x00" * 20, b"\x01\x64\x00\x1f\xfc\xe1\x00\x01\x67", b"\x01\x64\x00\x1f\xff\xff"]
)
def test_invalid_records_are_rejected(data: bytes) -> None:
    assert AvcConfiguration.read(data) is None


@pytest.mark.long
def test_an_independent_player_can_seek_anywhere(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4")
    cut(path, tmp_path / "clip", 1.5, 5.5)

    for start in ("0", "0.3", "0.6", "2", "3.5"):
        done = subprocess.run(
            [FFMPEG, "-nostdin", "-v", "error", "-ss", start, "-i", str(tmp_path / "clip"), "-f", "null", "-"],
            capture_output=True,
            check=False,
        )

        assert (0, b"") == (done.returncode, done.stderr)


def test_a_moment_after_the_stated_duration_of_a_frame_shows_that_frame(tmp_path: Path) -> None:
    film, path = write_video(tmp_path / "film.mp4", seconds=4, audio=None), tmp_path / "rare.mkv"
    rare = "select=not(mod(n\\,25))+lt(n\\,5)"
    ffmpeg("-i", str(film), "-vf", rare, "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "0", str(path))

    extraction = cut(path, tmp_path / "clip", 1.553, 1.563)

    assert TimeSpan(1.553, 1.563) == extraction.extent
    assert [25] == inspect(tmp_path / "clip").pictures
