"""Extracts clips by stream copy: writes the encoded packets of the source, unchanged, to a new container."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.formats.media.evidence.containers import ClipContainer, UncopyableError
from citekit.adapters.formats.media.evidence.mp4_edit_list import limit_shown_duration
from citekit.adapters.formats.media.evidence.timeline import (
    TOLERANCE,
    SeekPoint,
    Span,
    find_seek_point,
    nothing_readable,
    seek,
    seek_to,
    timestamped_packets,
)
from citekit.adapters.formats.media.streams import default_duration
from citekit.adapters.libraries.pyav import create_media
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer

PREROLL = 2
"""The number of audio packets before the start that a decoder needs for a clean start. An edit list hides them."""

MP4_OPTIONS = {"movflags": "+faststart", "movie_timescale": "90000"}

COARSE_TICK = 0.002
"""If the ticks of a video are at least this long in seconds, an exact clip starts at the tick at or before the requested
time. In AVI, for example, a tick is a whole frame.
"""

_REPORT_EVERY = 200


@frozen
class ClipTimes:
    """The times of a clip in seconds from the source's start: the span it shows, and where its stored data starts."""

    start: float
    end: float
    bytes_from: float


@define
class Track:
    """The copy of one stream in a clip. Times are in units of the source stream's time base.

    `zero` becomes 0 in the clip. Packets that start at `limit` or later are not shown, and one that extends beyond
    `stop` is shortened.
    """

    stream: Any
    output: Any
    zero: int
    limit: int
    stop: int
    tolerance: int
    default_duration: int = 0
    strict: bool = False
    floating: bool = False
    first: int | None = None
    started: bool = False
    done: bool = False
    hidden_after: bool = False
    earliest: int | None = None
    latest: int | None = None
    stored_from: int | None = None
    last_dts: int | None = None
    pending: list[Any] = field(factory=list)


def copy_streams(
    container: InputContainer, video: Any, audio: Any, span: Span, target: ClipContainer, path: Path, progress: Progress
) -> ClipTimes:
    """Write the packets of `span` to a new file at `path`.

    Raise `LocationOutside` if the video has no frame there, `UncopyableError` if the container of `target` cannot store
    a codec, `ExtractionFailed` if no packet can be read, and `Cancelled` if the caller cancels.
    """
    point = None if video is None else find_seek_point(container, video, span.low)
    zero = _clip_zero(video, point, span, target)
    options = MP4_OPTIONS if target.suffix in (".mp4", ".m4a", ".mov") else {}
    with create_media(path, target.muxer, options) as output:
        tracks = [track_for(output, s, zero, span, point if s is video else None, target) for s in (video, audio) if s]
        if video is None and not target.exact:
            tracks[0].strict, tracks[0].floating = False, True
        if point is None:
            seek(container, audio, zero - 0.5)
        else:
            seek_to(container, video, point)
        copy_packets(container, tracks, point, span, target, progress)
    shown_tracks = [track for track in tracks if track.latest is not None]
    if not shown_tracks:
        raise nothing_readable(Path(container.name).name)
    if target.exact and any(track.hidden_after for track in tracks):
        limit_shown_duration(path, span.high - zero)
    return clip_times(shown_tracks, zero, span, target)


def _clip_zero(video: Any, point: SeekPoint | None, span: Span, target: ClipContainer) -> float:
    """Return the time that becomes 0 in the clip, in seconds of the source container's own time."""
    if point is None:
        return span.low
    if not target.exact:
        return float(point.key_pts * video.time_base)
    base = float(video.time_base)
    return span.low if base < COARSE_TICK else math.floor((span.low + TOLERANCE) / base) * base


def track_for(
    output: OutputContainer, stream: Any, zero_time: float, span: Span, point: SeekPoint | None, target: ClipContainer
) -> Track:
    """Add a stream with the parameters of `stream` to `output`, and return its track, in which `zero_time` becomes 0.

    Raise `UncopyableError` if the container of the clip cannot store the codec.
    """
    try:
        output_stream = output.add_stream_from_template(stream, opaque=True)
    except ValueError as error:  # the container cannot store the codec
        raise UncopyableError(str(error)) from error
    output_stream.metadata.clear()
    base = float(stream.time_base)
    zero, stop, slack = round(zero_time / base), round(span.high / base), round(TOLERANCE / base)
    first = point.first_pts if point is not None and target.exact else None
    track = Track(stream, output_stream, zero, max(stop - slack, zero + 1), max(stop, zero + 1), slack, first=first)
    track.default_duration = round(default_duration(stream))
    track.strict = not target.exact
    return track


def copy_packets(
    container: InputContainer,
    tracks: list[Track],
    point: SeekPoint | None,
    span: Span,
    target: ClipContainer,
    progress: Progress,
) -> None:
    """Copy packets to the tracks until all are complete. `point` is where the video starts, if there is one."""
    by_index = {track.stream.index: track for track in tracks}
    for number, packet in enumerate(timestamped_packets(container, [track.stream for track in tracks])):
        track = by_index[packet.stream_index]
        if number % _REPORT_EVERY == 0:
            done = float(packet.dts * packet.time_base) - span.low
            progress(max(done, 0.0), span.end - span.start, "copying")
        if track.done:
            if all(each.done for each in tracks):
                break
        elif track.first is not None or track.stream.type == "video":
            copy_video_packet(track, packet, point)
        else:
            copy_audio_packet(track, packet, preroll=target.exact and not track.strict)
    progress(span.end - span.start, span.end - span.start, "copying")


def copy_video_packet(track: Track, packet: Any, point: SeekPoint | None) -> None:
    """Copy a video packet if it belongs to the clip, which begins at the keyframe of `point`.

    A frame shown after the end is copied only if a later packet has a frame shown before the end.
    """
    pts = packet.pts
    if not track.started:
        if point is None or not packet.is_keyframe or pts < point.key_pts:
            return
        track.started = True
    if packet.dts >= track.limit:
        track.done = True
        return
    if pts >= track.limit:
        track.pending.append(packet)
        return
    if track.pending:
        track.hidden_after = True
        _write_pending(track)
    if pts == track.first and pts <= track.zero + track.tolerance:
        packet.duration = max((packet.duration or 0) - (track.zero - pts), 1)
        packet.pts = track.zero
    _record_shown(track, packet)
    mux_packet(track, packet)


def copy_audio_packet(track: Track, packet: Any, *, preroll: bool) -> None:
    """Copy an audio packet if it belongs to the clip.

    With `preroll`, the packets before the clip that a decoder needs are copied, too.
    """
    pts = packet.pts
    if pts >= track.limit:
        track.done = True
        return
    if not track.started:
        last_tick = pts if track.strict else pts + (packet.duration or 0) - 1
        if last_tick < track.zero:
            track.pending = [*track.pending, packet][-PREROLL:] if preroll else []
            return
        track.started = True
        if track.floating:
            track.zero = pts
        _write_pending(track)
    _record_shown(track, packet)
    mux_packet(track, packet)


def _write_pending(track: Track) -> None:
    for each in track.pending:
        mux_packet(track, each)
    track.pending.clear()


def _record_shown(track: Track, packet: Any) -> None:
    """Extend the recorded range of shown times by a packet, and shorten a packet that extends beyond the clip."""
    pts, duration = packet.pts, packet.duration or 0
    excess = pts + duration - track.stop
    if duration > excess > 0:
        packet.duration = duration = duration - excess
    if track.earliest is None or pts < track.earliest:
        track.earliest = pts
    end = pts + (duration or track.default_duration)
    if track.latest is None or end > track.latest:
        track.latest = end


def mux_packet(track: Track, packet: Any) -> None:
    """Write `packet` with times relative to the clip's start, and a decoding time that increases if possible."""
    pts, dts = packet.pts, packet.dts - track.zero
    if track.stored_from is None or pts < track.stored_from:
        track.stored_from = pts
    pts -= track.zero
    if track.last_dts is not None and dts <= track.last_dts:
        dts = track.last_dts + 1
    packet.pts, packet.dts = pts, min(dts, pts)
    track.last_dts = packet.dts
    packet.stream = track.output
    track.output.container.mux_one(packet)


def clip_times(tracks: list[Track], zero: float, span: Span, target: ClipContainer) -> ClipTimes:
    """Return the span that the clip shows, and where its stored data starts."""
    leading = tracks[0]
    base = float(leading.stream.time_base)
    end = max(float(track.latest * track.stream.time_base) for track in tracks if track.latest is not None)
    start = zero if target.exact else float((leading.earliest or 0) * base)
    stored_from = min(
        float(track.stored_from * track.stream.time_base) for track in tracks if track.stored_from is not None
    )
    low = max(start - span.zero, 0.0)
    return ClipTimes(low, min(end - span.zero, span.end), min(max(stored_from - span.zero, 0.0), low))
