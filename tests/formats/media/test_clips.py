"""One contract for all clip extractors: the ffmpeg program finds in the clip what the extraction reports."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import pytest

from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.evidence.ffmpeg_program import FfmpegExtractor
from citekit.adapters.formats.media.evidence.still import PyAvStillExtractor
from citekit.adapters.libraries.ffmpeg import run
from citekit.domain.errors import (
    Cancelled,
    DriverMissing,
    ExtractionFailed,
    FormUnsupported,
    LocationOutside,
    SourceUnsupported,
)
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.formats import by_name
from citekit.domain.locations import Lines, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.extractor import Extractor
from citekit.domain.progress import Progress, silent
from tests.formats.media.media_samples import FFMPEG, FfmpegReport, ffmpeg, inspect, source, write_audio, write_video
from tests.representatives import representatives

FRAME = 1 / 25


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six seconds with a keyframe every two, as `film.mp4` and `film.mkv`."""
    path = write_video(tmp_path_factory.mktemp("film") / "film.mp4")
    write_video(path.with_suffix(".mkv"))
    return path


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_audio(tmp_path_factory.mktemp("talk") / "talk.wav")


def cut(
    extractor: Extractor,
    path: Path,
    target: Path,
    start: float,
    end: float | None,
    modality: Modality = Modality.VIDEO,
    options: Options = Options(),  # noqa: B008
    progress: Progress = silent,
) -> tuple[Extraction, FfmpegReport]:
    extraction = extractor.extract(source(path), TimeSpan(start, end, modality), options, target, progress)
    return extraction, inspect(target)


def extent_of(extraction: Extraction) -> tuple[float, float]:
    assert isinstance(extraction.extent, TimeSpan)
    assert extraction.extent.end is not None
    return extraction.extent.start, extraction.extent.end


@pytest.mark.parametrize("extractor", [PyAvClipExtractor(), FfmpegExtractor()], ids=["pyav", "ffmpeg"])
class TestEveryClipExtractor:
    @pytest.mark.parametrize("start", [0.0, 0.04, 1.51, 1.99, 2.0, 3.333, 5.5])
    @pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
    def test_a_copied_clip_starts_with_the_requested_frame(
        self, extractor: Extractor, film: Path, tmp_path: Path, start: float, suffix: str
    ) -> None:
        path = film.with_suffix(suffix)
        end = min(start + 1.3, 6.0)

        extraction, clip = cut(extractor, path, tmp_path / "clip", start, end)

        first = int((start + 0.001) / FRAME)
        last = int((end - 0.002) / FRAME)
        assert list(range(first, last + 1)) == clip.pictures
        assert (0.0, ".mp4", "video/mp4") == (clip.start, extraction.suffix, extraction.media_type)
        assert start == pytest.approx(extent_of(extraction)[0], abs=FRAME)
        assert end == pytest.approx(extent_of(extraction)[1], abs=FRAME)
        assert extent_of(extraction)[1] - extent_of(extraction)[0] == pytest.approx(clip.duration, abs=FRAME)
        assert extent_of(extraction)[1] - extent_of(extraction)[0] == pytest.approx(clip.samples / 48000, abs=FRAME)
        assert clip.complaints == ""

    def test_frame_times_stay_evenly_spaced(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        _, clip = cut(extractor, film, tmp_path / "clip", 1.52, 3.0)

        assert [round(number * FRAME, 3) for number in range(len(clip.times))] == [round(t, 3) for t in clip.times]

    def test_hidden_content_before_the_start_is_noted(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        extraction, _ = cut(extractor, film, tmp_path / "clip", 3.0, 4.0)

        assert extraction.bytes_from is not None
        assert 1.9 < extraction.bytes_from <= 2.0
        assert any("edit list tells players to skip" in note for note in extraction.notes)

    def test_an_open_span_extends_to_the_end_of_the_recording(
        self, extractor: Extractor, film: Path, tmp_path: Path
    ) -> None:
        extraction, clip = cut(extractor, film, tmp_path / "clip", 4.0, None)

        assert 6.0 == pytest.approx(extent_of(extraction)[1], abs=0.03)
        assert 149 == clip.pictures[-1]

    def test_an_end_beyond_the_recording_is_limited_to_it(
        self, extractor: Extractor, film: Path, tmp_path: Path
    ) -> None:
        extraction, clip = cut(extractor, film, tmp_path / "clip", 4.0, 900.0)

        assert 6.0 == pytest.approx(extent_of(extraction)[1], abs=0.03)
        assert 2.0 == pytest.approx(clip.duration, abs=0.03)

    def test_a_start_beyond_the_recording_is_refused(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        with pytest.raises(LocationOutside, match=r"lasts 6\.0"):
            cut(extractor, film, tmp_path / "clip", 6.5, 7.0)

    @pytest.mark.long
    def test_a_webm_clip_starts_at_a_keyframe_with_a_note(self, extractor: Extractor, tmp_path: Path) -> None:
        path = write_video(tmp_path / "film.webm", codec="libvpx", audio="libopus", gop=25)

        extraction, clip = cut(extractor, path, tmp_path / "clip", 1.5, 2.5)

        assert (".webm", "video/webm") == (extraction.suffix, extraction.media_type)
        assert round(extent_of(extraction)[0] / FRAME) == clip.pictures[0]
        assert (25, 62) == (clip.pictures[0], clip.pictures[-1])
        assert 0.0 == pytest.approx(clip.start, abs=0.01)
        assert any("instead of 1.5 s" in note for note in extraction.notes)
        assert clip.complaints == ""

    def test_the_same_request_gives_the_same_bytes(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        digests = set()
        for number in range(2):
            cut(extractor, film, tmp_path / f"clip{number}", 1.5, 3.0)
            digests.add(hashlib.sha256((tmp_path / f"clip{number}").read_bytes()).hexdigest())

        assert 1 == len(digests)

    def test_metadata_chapters_and_subtitles_are_not_copied(
        self, extractor: Extractor, film: Path, tmp_path: Path
    ) -> None:
        words = tmp_path / "words.srt"
        words.write_text("1\n00:00:00,500 --> 00:00:05,500\nHello\n")
        marks = tmp_path / "marks.txt"
        marks.write_text(";FFMETADATA1\ntitle=Secret\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3000\ntitle=One\n")
        full = tmp_path / "full.mp4"
        ffmpeg("-i", str(film), "-i", str(words), "-i", str(marks), "-map", "0", "-map", "1", "-map_metadata", "2",
               "-map_chapters", "2", "-c", "copy", "-c:s", "mov_text", str(full))  # fmt: skip

        _, clip = cut(extractor, full, tmp_path / "clip", 1.5, 3.0)

        assert 2 == clip.report.count("Stream #")
        assert not any(word in clip.report for word in ("Chapter", "Secret", "creation_time"))

    @pytest.mark.long
    def test_a_quarter_turn_is_preserved(self, extractor: Extractor, tmp_path: Path) -> None:
        path = write_video(tmp_path / "film.mp4", rotation=90)

        _, clip = cut(extractor, path, tmp_path / "clip", 1.5, 3.0)

        before = [line for line in inspect(path).report.splitlines() if "rotation" in line]
        assert before == [line for line in clip.report.splitlines() if "rotation" in line]
        assert len(before) == 1

    @pytest.mark.long
    @pytest.mark.parametrize("name", representatives(["talk.wav", "talk.flac", "talk.aiff"], 2))
    def test_lossless_audio_is_cut_to_the_sample(self, extractor: Extractor, tmp_path: Path, name: str) -> None:
        codec = {"wav": "pcm_s16le", "flac": "flac", "aiff": "pcm_s16be"}[name.split(".")[1]]
        path = write_audio(tmp_path / name, codec=codec)
        target = tmp_path / "clip"

        extraction, _ = cut(extractor, path, target, 1.2345, 2.5, Modality.AUDIO)

        assert Path(name).suffix == extraction.suffix
        assert (1.2345, 2.5) == pytest.approx(extent_of(extraction), abs=1e-4)
        whole, part = _samples(path), _samples(target)
        assert whole[2 * 59256 : 2 * 120000] == part

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("name", "codec", "muxer", "suffix"),
        representatives(
            [
                ("talk.mp3", "libmp3lame", None, ".mp3"),
                ("talk.m4a", "aac", "ipod", ".m4a"),
                ("talk.aac", "aac", "adts", ".m4a"),
                ("talk.opus", "libopus", None, ".opus"),
                ("talk.mp4", "aac", None, ".m4a"),
            ],
            2,
        ),
    )
    def test_other_audio_is_copied(
        self, extractor: Extractor, tmp_path: Path, name: str, codec: str, muxer: str | None, suffix: str
    ) -> None:
        path = write_audio(tmp_path / name, codec=codec, muxer=muxer)

        extraction, clip = cut(extractor, path, tmp_path / "clip", 1.5, 3.0, Modality.AUDIO)

        assert suffix == extraction.suffix
        assert extent_of(extraction)[1] - extent_of(extraction)[0] == pytest.approx(clip.samples / 48000, abs=0.06)
        assert 1.5 == pytest.approx(extent_of(extraction)[0], abs=0.03) or "instead of" in " ".join(extraction.notes)

    def test_an_audio_address_of_a_video_returns_its_audio(
        self, extractor: Extractor, film: Path, tmp_path: Path
    ) -> None:
        extraction, clip = cut(extractor, film, tmp_path / "clip", 1.5, 3.0, Modality.AUDIO)

        assert (".m4a", []) == (extraction.suffix, clip.pictures)
        assert 1.5 == pytest.approx(clip.samples / 48000, abs=0.03)

    def test_an_audio_address_of_a_silent_video_is_refused(self, extractor: Extractor, tmp_path: Path) -> None:
        path = write_video(tmp_path / "film.mp4", seconds=1, audio=None)

        with pytest.raises(FormUnsupported, match="has no audio"):
            cut(extractor, path, tmp_path / "clip", 0, 1, Modality.AUDIO)

    def test_a_file_that_is_not_a_video_is_refused(self, extractor: Extractor, tmp_path: Path) -> None:
        path = tmp_path / "film.mp4"
        path.write_bytes(b"\0\0\0\x18ftypisom" + bytes(500))

        with pytest.raises(SourceUnsupported):
            cut(extractor, path, tmp_path / "clip", 0, 1)

    def test_only_spans_of_time_are_supported(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        film_format = source(film).format
        text = by_name("a.txt")
        assert text is not None

        assert () == tuple(extractor.forms(film_format, Lines(1, 2)))
        assert () == tuple(extractor.forms(text, TimeSpan(0, 1)))
        assert Form.NATIVE in extractor.forms(film_format, TimeSpan(0, 1))
        with pytest.raises(FormUnsupported):
            extractor.extract(source(film), Lines(1, 2), Options(), tmp_path / "clip")
        with pytest.raises(FormUnsupported, match="text"):
            extractor.extract(source(film), TimeSpan(0, 1), Options(form=Form.TEXT), tmp_path / "clip")

    def test_the_source_is_unchanged(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        before = (film.read_bytes(), film.stat().st_mtime_ns)

        cut(extractor, film, tmp_path / "clip", 1.5, 3.0)

        assert before == (film.read_bytes(), film.stat().st_mtime_ns)

    def test_an_accurate_clip_hides_no_frame(self, extractor: Extractor, film: Path, tmp_path: Path) -> None:
        extraction, clip = cut(extractor, film, tmp_path / "clip", 1.5, 3.1, options=Options(accurate=True))

        assert list(range(37, 78)) == clip.pictures
        assert list(range(37, 78)) == _with_hidden(tmp_path / "clip")[:41]
        assert "ncoded" in " ".join(extraction.notes)
        assert clip.complaints == ""


def test_extraction_can_be_cancelled(film: Path, tmp_path: Path) -> None:
    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    for options in (Options(), Options(accurate=True)):
        with pytest.raises(Cancelled):
            cut(
                PyAvClipExtractor(),
                film,
                tmp_path / f"clip{options.accurate}",
                1.5,
                3.0,
                options=options,
                progress=stop,
            )


@pytest.mark.long
def test_a_long_frame_is_shown_from_the_requested_start(tmp_path: Path) -> None:
    path = write_video(tmp_path / "slides.mp4", seconds=60, rate=Fraction(1, 5), gop=4)

    extraction, clip = cut(PyAvClipExtractor(), path, tmp_path / "clip", 17.0, 28.0)

    assert (17.0, 28.0) == pytest.approx(extent_of(extraction), abs=0.001)
    assert [3, 4, 5] == clip.pictures
    assert [0.0, 3.0, 8.0] == pytest.approx(clip.times, abs=0.001)


@pytest.mark.long
def test_a_fractional_frame_rate_is_supported(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", rate=Fraction(30000, 1001), seconds=4, gop=60)

    _, clip = cut(PyAvClipExtractor(), path, tmp_path / "clip", 2.5, 3.5)

    assert list(range(74, 105)) == clip.pictures


@pytest.mark.parametrize("form", [Form.FRAME, Form.PNG])
@pytest.mark.parametrize(("start", "number"), [(0.0, 0), (1.5, 37), (1.52, 38), (1.99, 49), (2.0, 50), (5.99, 149)])
def test_a_still_is_the_frame_shown_at_the_start(
    film: Path, tmp_path: Path, start: float, number: int, form: Form
) -> None:
    extraction, still = cut(PyAvStillExtractor(), film, tmp_path / "still", start, None, options=Options(form=form))

    assert ([number], ".png", "image/png") == (still.pictures, extraction.suffix, extraction.media_type)
    assert (number * FRAME, (number + 1) * FRAME) == pytest.approx(extent_of(extraction), abs=0.001)


@pytest.fixture(scope="module")
def disc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("disc") / "disc.mpg"
    snow = "color=gray:size=160x96:rate=25:duration=9,noise=alls=60:allf=t"
    ffmpeg("-f", "lavfi", "-i", snow, "-c:v", "mpeg2video", "-bf", "2", "-g", "30", "-b:v", "2M", str(path))
    return path


@pytest.mark.parametrize("number", [60, 65, 90, 91, 100, 110, 120, 121, 149, 150, 151, 171, 180])
def test_a_still_of_a_program_stream_is_the_requested_frame(disc: Path, tmp_path: Path, number: int) -> None:
    target = tmp_path / "still"

    extraction, _ = cut(PyAvStillExtractor(), disc, target, number * FRAME, None, options=Options(form=Form.FRAME))

    plain = ("-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", "-")
    there = ffmpeg("-v", "error", "-i", str(disc), "-vf", f"select=eq(n\\,{number})", *plain, data=True).stdout
    still = ffmpeg("-v", "error", "-i", str(target), *plain, data=True).stdout
    assert sum(abs(a - b) > 16 for a, b in zip(there, still, strict=True)) < len(there) / 10
    assert (number * FRAME, (number + 1) * FRAME) == pytest.approx(extent_of(extraction), abs=0.001)


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_still_is_upright(tmp_path: Path, rotation: int) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=1, audio=None, rotation=rotation)

    cut(PyAvStillExtractor(), path, tmp_path / "still", 0.72, None, options=Options(form=Form.FRAME))

    turned = ffmpeg("-v", "error", "-ss", "0.72", "-i", str(path), "-frames:v", "1", "-pix_fmt", "gray", "-f",
                    "rawvideo", "-", data=True).stdout  # fmt: skip
    still = ffmpeg("-v", "error", "-i", str(tmp_path / "still"), "-pix_fmt", "gray", "-f", "rawvideo", "-", data=True)
    assert len(turned) == len(still.stdout)
    assert sum(abs(a - b) > 64 for a, b in zip(turned, still.stdout, strict=True)) < len(turned) / 50


def test_audio_has_no_still(talk: Path, tmp_path: Path) -> None:
    with pytest.raises(FormUnsupported):
        cut(PyAvStillExtractor(), talk, tmp_path / "still", 1, 2, options=Options(form=Form.FRAME))


def test_a_missing_program_names_its_extra(film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)

    with pytest.raises(DriverMissing, match=r"citekit-evidence\[ffmpeg\]"):
        cut(FfmpegExtractor(), film, tmp_path / "clip", 1, 2)


ENDLESS = [FFMPEG, "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "sine", "-f", "null", "-"]


def test_a_cancelled_program_is_killed() -> None:
    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        run(ENDLESS, stop)


def test_a_program_that_takes_too_long_is_killed() -> None:
    with pytest.raises(ExtractionFailed, match="longer than"):
        run(ENDLESS, silent, limit=0.3)


def test_a_failed_program_reports_its_last_message() -> None:
    with pytest.raises(ExtractionFailed, match="No such file"):
        run([FFMPEG, "-nostdin", "-hide_banner", "-i", "/nowhere/x.mp4", "-f", "null", "-"], silent)


def _samples(path: Path) -> bytes:
    return bytes(ffmpeg("-v", "error", "-i", str(path), "-f", "s16le", "-ac", "1", "-", data=True).stdout)


def _with_hidden(path: Path) -> list[int]:
    """Return the frames in a file, including those that its edit list hides."""
    plain = path.with_name("plain.mkv")
    ffmpeg("-y", "-ignore_editlist", "1", "-i", str(path), "-an", "-c", "copy", str(plain))
    return inspect(plain).pictures


def test_the_program_opens_no_referenced_file(film: Path, tmp_path: Path) -> None:
    """The library refuses such a file first; the program must not open it either."""
    from citekit.adapters.formats.media.evidence.containers import MP4
    from citekit.adapters.formats.media.evidence.ffmpeg_program import _command, _Plan
    from citekit.adapters.formats.media.evidence.timeline import Span
    from citekit.adapters.libraries.ffmpeg import program

    playlist = tmp_path / "film.mp4"
    (tmp_path / "other.mp4").write_bytes(film.read_bytes())
    playlist.write_text("ffconcat version 1.0\nfile other.mp4\n")
    target = tmp_path / "clip.mp4"
    plan = _Plan(Span(0.0, 2.0, 0.0), 0.0, (0,), MP4, {"codec": "copy"})

    with pytest.raises(ExtractionFailed):
        run(_command(program(), playlist, plan, target), silent)

    assert not target.exists()
