"""Small real videos and recordings made with PyAV, and reports of what the ffmpeg program finds in a file.

Each frame shows its number as eight black or white stripes, so that it is recognized after any encoding.
"""

from __future__ import annotations

import math
import re
import subprocess
from array import array
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import imageio_ffmpeg
from attrs import frozen

from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.source import Source

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
WIDTH, HEIGHT = 128, 96
STRIPE = 16


def numbered_frame(number: int, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Any:
    """Return a frame that shows `number` (0 to 255) as stripes, with the lowest bit at the left."""
    width, height = size
    row = b"".join((bytes([235 if number >> bit & 1 else 16]) * 3 + b"\xff") * (width // 8) for bit in range(8))
    colors = av.VideoFrame.from_bytes((row + bytes(4 * width - len(row))) * height, width, height, "rgba")
    return colors.reformat(format="yuv420p")


def write_video(
    path: Path,
    *,
    seconds: float = 6.0,
    rate: Fraction | int = 25,
    gop: int = 50,
    codec: str = "libx264",
    audio: str | None = "aac",
    options: dict[str, str] | None = None,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    rotation: int = 0,
    chapters: list[tuple[float, float, str]] | None = None,
) -> Path:
    """Write a video whose frame `i` shows `i`, with a tone as its audio."""
    with av.open(str(path), "w") as output:
        video: Any = output.add_stream(codec, rate=rate, options=dict(options or {}))
        video.width, video.height, video.pix_fmt, video.gop_size = *size, "yuv420p", gop
        if codec == "libx264":
            video.codec_context.options = {
                "x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0",
                **(options or {}),
            }
        if rotation:
            video.set_display_rotation(rotation)
        voice: Any = output.add_stream(audio, rate=48000, layout="mono") if audio else None
        if chapters:
            output.set_chapters([_chapter(number, *mark) for number, mark in enumerate(chapters)])
        for number in range(round(seconds * rate)):
            frame = numbered_frame(number, size)
            frame.pts, frame.time_base = number, 1 / Fraction(rate)
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
        if voice is not None:
            encode_tone(output, voice, seconds)
    return path


def _chapter(number: int, start: float, end: float, title: str) -> Any:
    base = Fraction(1, 1000)
    return {"id": number, "start": round(start * 1000), "end": round(end * 1000), "time_base": base,
            "metadata": {"title": title}}  # fmt: skip


def write_audio(path: Path, *, seconds: float = 6.0, codec: str = "pcm_s16le", rate: int = 48000,
                loud: list[tuple[float, float]] | None = None, muxer: str | None = None) -> Path:  # fmt: skip
    """Write a recording of a rising tone, silent outside the spans `loud` if given."""
    with av.open(str(path), "w", format=muxer) as output:
        voice: Any = output.add_stream(codec, rate=rate, layout="mono")
        encode_tone(output, voice, seconds, loud)
    return path


def encode_tone(output: Any, voice: Any, seconds: float, loud: list[tuple[float, float]] | None = None) -> None:
    rate = voice.codec_context.sample_rate
    resampler = av.AudioResampler(voice.codec_context.format, voice.codec_context.layout, rate)
    fifo = av.AudioFifo()
    size = voice.codec_context.frame_size or 1024
    for start in range(0, round(seconds * rate), rate // 10):
        count = min(rate // 10, round(seconds * rate) - start)
        frame = av.AudioFrame("s16", "mono", count)
        frame.planes[0].update(tone(start, count, rate, loud).tobytes())
        frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
        for part in resampler.resample(frame):
            fifo.write(part)
        for part in fifo.read_many(size):
            output.mux(voice.encode(part))
    rest = fifo.read(0, True)
    if rest is not None and rest.samples:
        output.mux(voice.encode(rest))
    output.mux(voice.encode(None))


def tone(start: int, count: int, rate: int, loud: list[tuple[float, float]] | None = None) -> array[int]:
    """Return the samples `start` to `start + count` of a tone with a rising pitch, so that no two moments sound alike."""
    samples = array("h")
    for index in range(start, start + count):
        time = index / rate
        on = loud is None or any(low <= time < high for low, high in loud)
        samples.append(int(9000 * math.sin(2 * math.pi * (300 + 40 * time) * time)) if on else 0)
    return samples


def source(path: Path) -> Source:
    """Return `path` as a source with its detected format."""
    data = path.read_bytes()
    found = detect(path.name, data[:HEAD_SIZE])
    assert found is not None
    return Source(path, Digest("0" * 64), len(data), found)


@frozen
class FfmpegReport:
    """What the ffmpeg program finds in a file: frame numbers, the number of samples, complaints, and its report."""

    path: Path
    pictures: list[int]
    samples: int
    complaints: str
    report: str

    @property
    def times(self) -> list[float]:
        """The presentation times of the frames."""
        log = ffmpeg("-i", str(self.path), "-an", "-fps_mode", "passthrough", "-vf", "showinfo", "-f", "null", "-")
        return [float(value) for value in re.findall(r"pts_time:(-?[\d.]+)", log)]

    @property
    def start(self) -> float:
        """The start time that ffmpeg reports."""
        found = re.search(r"start: (-?[\d.]+)", self.report)
        return float(found.group(1)) if found else 0.0

    @property
    def duration(self) -> float:
        """The duration that ffmpeg reports."""
        hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", self.report).groups()  # type: ignore[union-attr]
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def ffmpeg(*arguments: str, data: bool = False) -> Any:
    done = subprocess.run(
        [FFMPEG, "-nostdin", "-hide_banner", *arguments], capture_output=True, timeout=120, check=False
    )
    return done if data else done.stderr.decode("utf-8", "replace")


def inspect(path: Path, rate: int = 48000) -> FfmpegReport:
    """Decode all frames and samples of `path` with the ffmpeg program."""
    report = ffmpeg("-i", str(path))
    pictures: list[int] = []
    complaints = ""
    if "Video:" in report:
        raw = ffmpeg("-v", "error", "-i", str(path), "-an", "-fps_mode", "passthrough", "-vf",
                     f"scale={WIDTH}:{HEIGHT},format=gray", "-f", "rawvideo", "-", data=True)  # fmt: skip
        complaints += raw.stderr.decode()
        size = WIDTH * HEIGHT
        pictures = [_number(raw.stdout[at : at + size]) for at in range(0, len(raw.stdout), size)]
    samples = 0
    if "Audio:" in report:
        raw = ffmpeg("-v", "error", "-i", str(path), "-vn", "-ac", "1", "-ar", str(rate), "-f", "s16le", "-", data=True)
        complaints += raw.stderr.decode()
        samples = len(raw.stdout) // 2
    return FfmpegReport(path, pictures, samples, complaints, report)


def _number(gray: bytes) -> int:
    middle = gray[WIDTH * (HEIGHT // 2) :]
    return sum((middle[bit * STRIPE + STRIPE // 2] > 128) << bit for bit in range(8))
