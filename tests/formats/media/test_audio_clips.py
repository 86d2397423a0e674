"""Audio that is copied and still exact to the sample. The ffmpeg program decodes every clip."""

from __future__ import annotations

import subprocess
import wave
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.evidence.containers import FLAC
from citekit.adapters.formats.media.evidence.flac_frames import FrameHeader, renumber
from citekit.adapters.formats.media.evidence.lossless import sample_size, transcode_samples
from citekit.adapters.formats.media.evidence.timeline import requested_span
from citekit.adapters.formats.media.streams import audio_stream, codec_name, lasts_until, measure_duration
from citekit.adapters.libraries.pyav import open_media
from citekit.domain.errors import Cancelled
from citekit.domain.evidence import Extraction, Options
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.progress import silent
from tests.formats.media.media_samples import FFMPEG, ffmpeg, source, tone, write_audio, write_video
from tests.representatives import representatives

RATE = 48000
STRICT = ("-v", "error", "-err_detect", "crccheck+bitstream+buffer+explode")


def cut(path: Path, target: Path, start: float, end: float) -> Extraction:
    return PyAvClipExtractor().extract(source(path), TimeSpan(start, end, Modality.AUDIO), Options(), target)


def samples(path: Path, form: str = "s16le") -> bytes:
    done = ffmpeg(*STRICT, "-i", str(path), "-f", form, "-", data=True)
    assert (0, b"") == (done.returncode, done.stderr)
    return bytes(done.stdout)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 4 * RATE), count=st.one_of(st.integers(1, 20), st.integers(1, 2 * RATE)))
@pytest.mark.parametrize(
    ("name", "size"), representatives([("talk.flac", 4608), ("talk.wav", 0), ("small.flac", 192)], 2)
)
def test_any_samples_are_cut_exactly(tmp_path: Path, name: str, size: int, first: int, count: int) -> None:
    path = tmp_path / name
    if not path.exists():
        plain = write_audio(tmp_path / "plain.wav")
        ffmpeg("-i", str(plain), *(["-frame_size", str(size)] if size else ["-c", "copy"]), str(path))
        (tmp_path / f"{name}.raw").write_bytes(samples(path))
    target = tmp_path / "clip"
    target.unlink(missing_ok=True)
    last = first + count

    extraction = cut(path, target, first / RATE, last / RATE)

    whole = (tmp_path / f"{name}.raw").read_bytes()
    assert whole[2 * first : 2 * last] == samples(target)
    assert path.suffix == extraction.suffix
    assert isinstance(extraction.extent, TimeSpan)
    assert (first / RATE, last / RATE) == pytest.approx((extraction.extent.start, extraction.extent.end), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "suffix", "note"), [("talk.caf", ".flac", "pcm_s16be"), ("talk.wv", ".flac", "wavpack")]
)
def test_formats_that_cannot_be_cut_themselves_give_a_format_with_the_same_samples(
    tmp_path: Path, name: str, suffix: str, note: str
) -> None:
    path = tmp_path / name
    ffmpeg("-i", str(write_audio(tmp_path / "plain.wav")), str(path))

    extraction = cut(path, tmp_path / "clip", 1.25, 2.5)

    assert suffix == extraction.suffix
    assert note in " ".join(extraction.notes)
    assert samples(path)[2 * 60_000 : 2 * 120_000] == samples(tmp_path / "clip")


@pytest.mark.parametrize(
    ("codec", "form"),
    representatives(
        [
            ("pcm_s24le", "s24le"),
            ("pcm_f32le", "f32le"),
            ("pcm_f64le", "f64le"),
            ("pcm_u8", "u8"),
            ("pcm_mulaw", "mulaw"),
        ],
        2,
    ),
)
def test_samples_of_every_format_are_copied_unchanged(tmp_path: Path, codec: str, form: str) -> None:
    path = tmp_path / "talk.wav"
    ffmpeg("-i", str(write_audio(tmp_path / "plain.wav")), "-ac", "2", "-c:a", codec, str(path))

    cut(path, tmp_path / "clip", 1.2345, 2.5)

    size = sample_size(codec, 2)
    assert size is not None
    assert samples(path, form)[size * 59256 : size * 120000] == samples(tmp_path / "clip", form)


@pytest.mark.parametrize(("rate", "bits"), representatives([(8000, "s16"), (44100, "s32"), (96000, "s32")], 1))
def test_flac_of_other_rates_and_widths_is_cut_exactly(tmp_path: Path, rate: int, bits: str) -> None:
    path = tmp_path / "talk.flac"
    ffmpeg("-i", str(write_audio(tmp_path / "plain.wav")), "-af", "volume=0.7", "-ar", str(rate), "-ac", "2",
           "-sample_fmt", bits, str(path))  # fmt: skip

    cut(path, tmp_path / "clip", 1.2345, 2.5)

    first, last = round(1.2345 * rate), round(2.5 * rate)
    assert samples(path, "s32le")[8 * first : 8 * last] == samples(tmp_path / "clip", "s32le")


@pytest.mark.long
def test_a_flac_clip_can_be_cut_again_and_seeked(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "talk.flac", codec="flac")
    cut(path, tmp_path / "once.flac", 0.777, 5.0)

    cut(tmp_path / "once.flac", tmp_path / "twice.flac", 1.0, 3.0)

    assert samples(path)[2 * 85296 : 2 * 181296] == samples(tmp_path / "twice.flac")
    late = ffmpeg(*STRICT, "-ss", "2.5", "-i", str(tmp_path / "once.flac"), "-f", "s16le", "-", data=True).stdout
    assert samples(tmp_path / "once.flac")[2 * 120000 :] == late


def test_damage_in_a_renumbered_frame_stays_visible() -> None:
    frame = _a_frame()
    header = FrameHeader.read(frame)
    assert header is not None
    damaged = bytearray(frame)
    damaged[len(frame) // 2] ^= 1

    there = renumber(frame, header, 70_000)
    wrong = renumber(bytes(damaged), header, 70_000)

    assert there[-2:] == wrong[-2:]
    assert 1 == sum(a != b for a, b in zip(there, wrong, strict=True))


@pytest.mark.parametrize("index", representatives([0, 3, 9, 15], 2))
def test_a_damaged_recording_is_decoded_instead_of_copied(tmp_path: Path, index: int) -> None:
    path = write_audio(tmp_path / "talk.flac", codec="flac")
    frame = _frames(path)[index]
    data = path.read_bytes()
    at = data.index(frame) + len(frame) // 2
    path.write_bytes(data[:at] + bytes(40) + data[at + 40 :])

    cut(path, tmp_path / "clip", 0.01, 2.0)

    with open_media(path) as container:
        span = requested_span(container, TimeSpan(0.01, 2.0, Modality.AUDIO))
        transcode_samples(container, audio_stream(container), span, FLAC, tmp_path / "decoded", silent)
    assert samples(tmp_path / "decoded") == samples(tmp_path / "clip")


def test_a_clip_of_a_truncated_recording_ends_with_its_last_whole_frame(tmp_path: Path) -> None:
    whole = write_audio(tmp_path / "talk.flac", codec="flac")
    frames, data = _frames(whole), whole.read_bytes()
    at = data.index(frames[20]) + len(frames[20]) // 2
    path = tmp_path / "short.flac"
    path.write_bytes(data[:at])

    extraction = PyAvClipExtractor().extract(
        source(path), TimeSpan(0.5, None, Modality.AUDIO), Options(), tmp_path / "clip"
    )

    assert samples(whole)[2 * 24000 : 2 * 20 * 4608] == samples(tmp_path / "clip")[: 2 * (20 * 4608 - 24000)]
    assert isinstance(extraction.extent, TimeSpan)
    assert 0.5 == extraction.extent.start


@pytest.mark.long
@given(number=st.integers(0, 2**36 - 1))
def test_renumbering_a_frame_is_reversible(number: int) -> None:
    frame = _a_frame()
    header = FrameHeader.read(frame)
    assert header is not None

    there = renumber(frame, header, number)

    found = FrameHeader.read(there)
    assert found is not None
    assert header.samples == found.samples
    assert (True, number) == (found.has_variable_size, found.number)
    assert renumber(frame, header, 0) == renumber(there, found, 0)


@pytest.mark.parametrize("data", [b"", b"\xff\xf8" + bytes(20), b"\xff\xf8\xc9\x18\x00\x00" + bytes(20), bytes(40)])
def test_invalid_frames_are_rejected(data: bytes) -> None:
    assert FrameHeader.read(data) is None


@pytest.mark.parametrize("silence", [0, 60_000, 120_000])
def test_dts_in_a_wav_is_detected(tmp_path: Path, silence: int) -> None:
    path, raw = tmp_path / "film.wav", tmp_path / "film.dts"
    ffmpeg("-i", str(write_audio(tmp_path / "plain.wav", seconds=1)), "-c:a", "dca", "-strict", "-2", str(raw))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(bytes(silence) + raw.read_bytes())

    with open_media(path) as container:
        assert "dts" == codec_name(audio_stream(container))


def test_extraction_of_samples_can_be_cancelled(tmp_path: Path) -> None:
    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    for name, codec in (("talk.wav", "pcm_s16le"), ("talk.flac", "flac")):
        path = write_audio(tmp_path / name, codec=codec, seconds=1)

        with pytest.raises(Cancelled):
            PyAvClipExtractor().extract(
                source(path), TimeSpan(0.1, 0.9, Modality.AUDIO), Options(), tmp_path / f"{name}.clip", stop
            )


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "codec"),
    representatives([("a.mp3", "libmp3lame"), ("a.opus", "libopus"), ("a.flac", "flac"), ("a.mka", "aac"),
     ("a.aac", "aac"), ("a.wav", "pcm_s16le"), ("a.m4a", "aac")], 3),
)  # fmt: skip
def test_the_end_of_a_recording_is_checked_without_reading_it(tmp_path: Path, name: str, codec: str) -> None:
    path = write_audio(tmp_path / name, codec=codec, muxer="ogg" if name == "a.opus" else None)

    with open_media(path) as container:
        end = measure_duration(container).playable
        assert 6.0 == pytest.approx(end, abs=0.1)
        assert lasts_until(container, 3.0)
        assert not lasts_until(container, end + 0.2)


def test_a_container_that_declares_too_much_is_not_trusted(tmp_path: Path) -> None:
    film, words = write_video(tmp_path / "film.mp4", seconds=2), tmp_path / "words.srt"
    words.write_text("1\n00:11:00,000 --> 00:12:00,000\nLate\n")
    ffmpeg("-i", str(film), "-i", str(words), "-c", "copy", "-c:s", "srt", str(tmp_path / "late.mkv"))

    with open_media(tmp_path / "late.mkv") as container:
        assert lasts_until(container, 1.5)
        assert not lasts_until(container, 3.0)
        assert 2.0 == pytest.approx(measure_duration(container).playable, abs=0.05)


def _frames(path: Path) -> list[bytes]:
    with open_media(path) as container:
        return [bytes(packet) for packet in container.demux() if packet.size]


def _a_frame() -> bytes:
    raw = tone(0, 4608, RATE).tobytes()
    done = subprocess.run(
        [FFMPEG, "-v", "error", "-f", "s16le", "-ar", "48000", "-ac", "1", "-i", "-", "-f", "flac", "-"],
        input=raw,
        capture_output=True,
        check=True,
    ).stdout
    return done[done.index(b"\xff\xf8") :]


@pytest.fixture(scope="module")
def hiss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hiss") / "hiss.oga"
    ffmpeg("-f", "lavfi", "-i", f"anoisesrc=r={RATE}:d=30:seed=1", "-c:a", "flac", str(path))
    path.with_suffix(".raw").write_bytes(samples(path))
    return path


@pytest.mark.parametrize("start", [3, 9, 12, 15, 27, 29])
def test_flac_in_ogg_is_cut_at_the_right_time(tmp_path: Path, hiss: Path, start: int) -> None:
    cut(hiss, tmp_path / "clip", start, start + 1)

    whole = hiss.with_suffix(".raw").read_bytes()
    assert whole[2 * RATE * start : 2 * RATE * (start + 1)] == samples(tmp_path / "clip")


def test_frames_of_silence_are_copied_too(tmp_path: Path) -> None:
    path = tmp_path / "silence.flac"
    ffmpeg("-f", "lavfi", "-i", "anullsrc=r=48000:cl=mono", "-t", "3", str(path))

    headers = [FrameHeader.read(frame) for frame in _frames(path)]

    assert min(map(len, _frames(path))) < 16
    assert None not in headers


@pytest.mark.parametrize("odd", [1, 3])
def test_an_incomplete_sample_is_dropped(tmp_path: Path, odd: int) -> None:
    path = tmp_path / "torn.wav"
    ffmpeg("-i", str(write_audio(tmp_path / "plain.wav", seconds=1)), "-ac", "2", str(path))
    whole = samples(path)
    path.write_bytes(path.read_bytes()[:-odd])

    cut(path, tmp_path / "clip", 0.5, 1.0)

    assert whole[4 * 24000 : -4] == samples(tmp_path / "clip")
