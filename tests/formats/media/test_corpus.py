"""Every real video and recording gives a map or one clear error, and its clips play in the ffmpeg program."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from citekit.adapters.formats.media.evidence.clip import PyAvClipExtractor
from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.shared.outline import make_nodes
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.errors import Refused
from citekit.domain.evidence import Options
from citekit.domain.locations import TimeSpan
from citekit.domain.progress import silent
from tests.formats.media.media_samples import ffmpeg, inspect, source

pytestmark = pytest.mark.corpus

BROKEN = {"broken-64bit.mp4", "broken-truncated.mp4", "empty-0-bytes.mp3", "too-short.mp3"}
VIDEOS = [
    "bbb-trailer.mp4", "big-buck-bunny-full.mp4", "bikes-10s.mp4", "broken-64bit.mp4", "broken-truncated.mp4",
    "city-mpeg2.mpg", "mkv-with-subrip.mkv", "mp4-basic.mp4", "park-half-second.mp4", "run.mp4",
    "screencast-vp8-noaudio.webm", "speech-8s.mp4", "street-vtest.avi", "world-30s.mp4",
]  # fmt: skip
NOT_SOUND = {".txt", ".csv", ".rttm"}


def sounds(corpus: Path) -> list[Path]:
    return sorted(path for path in (corpus / "audio").iterdir() if path.suffix not in NOT_SOUND)


@pytest.mark.parametrize("name", VIDEOS)
def test_every_video_is_mapped_and_extracted(corpus: Path, tmp_path: Path, name: str) -> None:
    _try(corpus / "video" / name, tmp_path)


def test_every_recording_is_mapped_and_extracted(corpus: Path, tmp_path: Path) -> None:
    for path in sounds(corpus):
        folder = tmp_path / path.name
        folder.mkdir()
        _try(path, folder)


def test_a_container_with_a_wrong_duration_is_measured(corpus: Path) -> None:
    facts = PyAvProbe().probe(corpus / "video" / "mkv-with-subrip.mkv")

    assert (720.0, 4) == (facts.declared, len(facts.subtitles))
    assert 30.57 == pytest.approx(facts.duration, abs=0.01)


def _try(path: Path, folder: Path) -> None:
    if path.name in BROKEN:
        if detect(path.name, path.read_bytes()[:HEAD_SIZE]) is not None:
            with pytest.raises(Refused):
                PyAvProbe().probe(path)
        return
    found = MediaOutliner(PyAvProbe()).outline(source(path), silent)
    nodes = make_nodes(found)
    duration = found.extent.seconds or 0.0
    assert nodes
    for accurate in (False, True):
        for number, node in enumerate(random.Random(path.name).sample(nodes, min(2, len(nodes)))):
            span = node.location
            assert isinstance(span, TimeSpan)
            assert span.end is not None
            assert 0 <= span.start < span.end <= duration
            if accurate and span.end - span.start > 15:
                span = TimeSpan(span.start, span.start + 15, span.modality)
            _cut(path, span, folder / f"clip{number}{accurate}", Options(accurate=accurate))


def _cut(path: Path, span: TimeSpan, target: Path, options: Options) -> None:
    extraction = PyAvClipExtractor().extract(source(path), span, options, target)

    clip = inspect(target)
    assert isinstance(extraction.extent, TimeSpan)
    assert extraction.extent.end is not None
    assert (extraction.extent.end - extraction.extent.start) == pytest.approx(clip.duration, abs=0.15), (
        path.name,
        extraction,
    )
    assert not _complaints(clip.complaints, path), (path.name, clip.complaints)
    assert clip.pictures or clip.samples


def _complaints(text: str, path: Path) -> list[str]:
    """Return what the decoder reports about the clip, but not about the source or any cut at an open GOP."""
    usual = ("mmco: unref short failure", "Last message repeated")
    complaints = [line for line in text.splitlines() if line.strip() and not any(words in line for words in usual)]
    if not complaints:
        return []
    before = ffmpeg("-v", "error", "-i", str(path), "-f", "null", "-")
    return [] if before.strip() else complaints
