"""Files with several streams or unusual times: notes state which streams are used, and the times are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.evidence import Options
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.progress import silent
from tests.formats.media.media_samples import FfmpegReport, ffmpeg, inspect, source, write_video


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("film") / "film.mp4", seconds=4, gop=25)


def outline(path: Path) -> Outline:
    return MediaOutliner(PyAvProbe()).outline(source(path), silent)


def clip(path: Path, start: float, end: float, folder: Path) -> FfmpegReport:
    target = folder / "clip"
    got = PyAvClipExtractor().extract(source(path), TimeSpan(start, end, Modality.VIDEO), Options(), target)
    return inspect(target.rename(target.with_suffix(got.suffix)))


def test_the_default_streams_are_used_with_a_note(film: Path, tmp_path: Path) -> None:
    other = write_video(tmp_path / "other.mp4", seconds=4, gop=25, size=(64, 64))
    path = tmp_path / "both.mkv"
    ffmpeg("-i", str(film), "-i", str(other), "-map", "0", "-map", "1", "-c", "copy", "-disposition:v:0", "0",
           "-disposition:a:0", "0", "-disposition:v:1", "default", "-disposition:a:1", "default",
           "-metadata:s:a:1", "language=deu", str(path))  # fmt: skip

    found = outline(path)

    assert (64, 64) == found.extent.size
    assert [
        "The file has 2 video streams. Number 2 is used, because players choose it by default.",
        "The file has 2 audio streams. Number 2 (deu) is used, because players choose it by default.",
    ] == [note for note in found.notes if "streams" in note]


def test_the_first_of_60_audio_streams_is_used_and_cut(film: Path, tmp_path: Path) -> None:
    path = tmp_path / "many.mkv"
    ffmpeg("-i", str(film), *["-map", "0:v"], *["-map", "0:a"] * 60, "-c", "copy", str(path))

    notes, cut = outline(path).notes, clip(path, 1.0, 2.0, tmp_path)

    assert ["The file has 60 audio streams. Number 1 is used, because players choose it by default."] == [
        note for note in notes if "streams" in note
    ]
    assert [25, 49] == [cut.pictures[0], cut.pictures[-1]]


def test_times_that_go_back_are_noted(film: Path, tmp_path: Path) -> None:
    part, path = tmp_path / "part.ts", tmp_path / "joined.ts"
    ffmpeg("-i", str(film), "-c", "copy", str(part))
    path.write_bytes(part.read_bytes() * 2)

    notes = outline(path).notes

    assert ["The packet times go back from 3.9 s to 0 s, so later times are ambiguous, "
            "and parts can be missing."] == [note for note in notes if "packet times" in note]  # fmt: skip
    assert not [note for note in outline(part).notes if "packet times" in note]


def test_a_film_with_a_late_start_time_is_mapped_and_extracted_from_its_start(film: Path, tmp_path: Path) -> None:
    path = tmp_path / "late.mkv"
    ffmpeg("-i", str(film), "-c", "copy", "-output_ts_offset", "5", str(path))

    found, cut = outline(path), clip(path, 1.0, 2.0, tmp_path)

    assert 4.0 == pytest.approx(found.extent.seconds or 0, abs=0.05)
    assert not [note for note in found.notes if "declares" in note]
    assert [25, 49] == [cut.pictures[0], cut.pictures[-1]]


def test_a_variable_frame_rate_is_cut_by_frame_times(film: Path, tmp_path: Path) -> None:
    path = tmp_path / "uneven.mkv"
    ffmpeg("-i", str(film), "-an", "-vf", "select='lt(n,25)+not(mod(n,5))'", "-fps_mode", "vfr", str(path))

    cut = clip(path, 0.8, 1.6, tmp_path)

    assert [20, 21, 22, 23, 24, 25, 30, 35] == cut.pictures
    assert [0.0, 0.2, 0.4, 0.6] == pytest.approx([cut.times[n] for n in (0, 5, 6, 7)], abs=0.005)


def test_a_windows_media_clip_keeps_its_format(film: Path, tmp_path: Path) -> None:
    path = tmp_path / "film.wmv"
    ffmpeg("-i", str(film), "-g", "25", str(path))

    cut = clip(path, 1.1, 2.0, tmp_path)

    assert ".wmv" == cut.path.suffix
    assert list(range(25, 49)) == cut.pictures[:24]


@pytest.mark.parametrize(("name", "codec"), [("film.avi", "cinepak"), ("film.mov", "svq1")])
def test_a_video_that_no_container_can_store_is_encoded_again_with_a_note(
    film: Path, tmp_path: Path, name: str, codec: str
) -> None:
    path = tmp_path / name
    ffmpeg("-i", str(film), "-an", "-t", "2", "-c:v", codec, str(path))

    got = PyAvClipExtractor().extract(source(path), TimeSpan(0.4, 1.2, Modality.VIDEO), Options(), tmp_path / "clip")

    assert ".mp4" == got.suffix
    assert any("re-encoded" in note and codec in note for note in got.notes)
    assert 0.8 == pytest.approx(inspect((tmp_path / "clip").rename(tmp_path / "clip.mp4")).duration, abs=0.05)


def test_non_square_pixels_are_noted(film: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.mp4"
    ffmpeg("-i", str(film), "-c", "copy", "-aspect", "16:9", str(path))

    assert "The pixels are not square: players show 128 x 96 as 171 x 96." in outline(path).notes
