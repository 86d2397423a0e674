"""The scene cuts of a film, found by decoding no more of it than is needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.media.outline.keyframe_intervals import (
    SAME_SCENE_DIFFERENCE,
    KeyframeInterval,
    keyframe_intervals,
)
from citekit.adapters.formats.media.outline.thumbnails import ThumbnailMaker
from citekit.adapters.formats.media.outline.transitions import (
    MIN_CHANGE,
    Transition,
    find_transitions,
    merge_transitions,
)
from citekit.adapters.formats.media.streams import (
    decode_frames,
    decode_packet,
    flush_decoder,
    read_packets,
    start_time,
    video_stream,
)
from citekit.adapters.libraries.pyav import open_media
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

FULL_DECODE_BUDGET = 1280 * 720 * 24 * 90
"""Pixels, over all pictures, up to which every picture is decoded: a minute and a half of 720p."""

PARTIAL_DECODE_BUDGET = 1280 * 720 * 24 * 2400
"""Pixels up to which pictures between key pictures are decoded where something happens: 40 minutes of 720p."""

MIN_SCENE = 0.6
"""Seconds that a scene lasts at least."""

SCENE_LIMIT = 2000
"""Scenes at most: where there are more, the weakest cuts are left out."""

_NEAR_OUTLIER = 0.25
_KEYFRAME_CHANGE = 2.5 * MIN_CHANGE

TimedThumbnails = Iterator[tuple[float, "Image"]]


@frozen
class SceneCuts:
    """The seconds at which scenes begin after the first; `coarse` where only key pictures were looked at."""

    times: Sequence[float]
    keyframes_only: bool


def find_cuts(
    path: Path, duration: float, frame_rate: float | None, size: tuple[int, int], progress: Progress
) -> SceneCuts:
    """The scene cuts of the video at `path`. Raises `SourceUnsupported`, `Cancelled`."""
    work = size[0] * size[1] * (frame_rate or 25.0) * duration
    if work <= FULL_DECODE_BUDGET:
        return SceneCuts(_spaced_times(find_transitions(_every_picture(path, duration, progress)), duration), False)
    parts = keyframe_intervals(path, duration, progress)
    if work > PARTIAL_DECODE_BUDGET:
        return SceneCuts(_spaced_times(_keyframe_cuts(parts), duration), True)
    chosen = [part for part in parts if part.change >= SAME_SCENE_DIFFERENCE or part.outliers]
    pictures = _decode_intervals(path, duration, chosen, progress)
    runs = groupby(pictures, key=itemgetter(0))
    found = [each for _, run in runs for each in find_transitions((time, copy) for _, time, copy in run)]
    return SceneCuts(_spaced_times(merge_transitions(found), duration), False)


def _every_picture(path: Path, duration: float, progress: Progress) -> TimedThumbnails:
    """Every picture of a short film."""
    copies = ThumbnailMaker()
    with open_media(path) as container:
        stream = _fast_video_stream(container)
        zero = start_time(container)
        for number, frame in enumerate(decode_frames(container, stream)):
            if number % 64 == 0:
                progress(
                    min(max(frame.time - zero, 0.0), duration) if frame.pts is not None else 0.0,
                    duration,
                    "looking for scene cuts",
                )
            if frame.pts is not None:
                yield frame.time - zero, copies.thumbnail(frame)


def _fast_video_stream(container: Any) -> Any:
    stream: Any = video_stream(container)
    stream.thread_type = "AUTO"
    stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
    return stream


def _decode_intervals(
    path: Path, duration: float, parts: Sequence[KeyframeInterval], progress: Progress
) -> Iterator[tuple[int, float, Image]]:
    """The pictures of those stretches, each with the number of the unbroken run that it is in.

    Pictures that no other refers to are left out, unless a packet nearby stands out: a cut is found there to the picture.
    """
    copies = ThumbnailMaker()
    with open_media(path) as container:
        stream = _fast_video_stream(container)
        zero = start_time(container)
        for run, packets in enumerate(_packet_runs(read_packets(container, [stream]), parts)):
            for packet, part in packets:
                seconds = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
                stream.codec_context.skip_frame = "DEFAULT" if _is_near_outlier(seconds, part) else "NONREF"
                for frame in decode_packet(stream, packet):
                    if frame.pts is not None:
                        yield run, float(frame.pts * stream.time_base) - zero, copies.thumbnail(frame)
                progress(min(max(duration / 3 + 2 * seconds / 3, 0.0), duration), duration, "looking for scene cuts")
            for frame in flush_decoder(stream):
                if frame.pts is not None:
                    yield run, float(frame.pts * stream.time_base) - zero, copies.thumbnail(frame)


def _packet_runs(
    packets: Iterator[Any], parts: Sequence[KeyframeInterval]
) -> Iterator[Iterator[tuple[Any, KeyframeInterval]]]:
    """The packets of the stretches, those of stretches that touch in one run, each run to the key packet behind it."""
    numbered = enumerate(packets)
    for joined in _adjacent(parts):
        yield _packets_of_run(numbered, joined)


def _packets_of_run(
    numbered: Iterator[tuple[int, Any]], parts: Sequence[KeyframeInterval]
) -> Iterator[tuple[Any, KeyframeInterval]]:
    remaining = list(reversed(parts))
    for number, packet in numbered:
        if number < parts[0].first_packet:
            continue
        while len(remaining) > 1 and number >= remaining[-1].end_packet:
            remaining.pop()
        yield packet, remaining[-1]
        if number >= parts[-1].end_packet:
            return


def _adjacent(parts: Sequence[KeyframeInterval]) -> list[list[KeyframeInterval]]:
    """Stretches that follow one another at once, together; the packet behind a run belongs to no other run."""
    runs: list[list[KeyframeInterval]] = []
    for part in parts:
        if runs and runs[-1][-1].end_packet >= part.first_packet:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _is_near_outlier(seconds: float, part: KeyframeInterval) -> bool:
    return any(abs(seconds - hint) < _NEAR_OUTLIER for hint in part.outlier_times)


def _keyframe_cuts(parts: Sequence[KeyframeInterval]) -> list[Transition]:
    """The changes between key pictures that are far above the usual ones, each at the packet that stands out."""
    usual = sorted(part.change for part in parts)[len(parts) // 2] if parts else 0.0
    limit = max(_KEYFRAME_CHANGE, 1.2 * usual)
    return [
        Transition(part.outlier_times[0] if part.outlier_times else part.end_time, part.change)
        for part in parts[:-1]
        if part.change >= limit
    ]


def _spaced_times(found: Sequence[Transition], duration: float) -> list[float]:
    """The times of the strongest transitions that are far enough from one another and from both ends."""
    kept: list[float] = []
    for each in sorted(found, key=lambda one: (-one.amount, one.time)):
        if len(kept) >= SCENE_LIMIT - 1:
            break
        near = bisect_left(kept, each.time)
        around = [0.0, *kept[max(near - 1, 0) : near + 1], duration]
        if all(abs(each.time - other) >= MIN_SCENE for other in around):
            kept.insert(near, each.time)
    return kept
