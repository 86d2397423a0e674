"""Clips by stream copy: the packets of the source, unchanged, in a container of their own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.formats.media.evidence.containers import Target
from citekit.adapters.formats.media.evidence.mp4_edit_list import show_until
from citekit.adapters.formats.media.evidence.timeline import (
    SLACK,
    KeyPicture,
    Span,
    nothing_there,
    rewind,
    rewind_to,
    seek_key,
    timed,
)
from citekit.adapters.formats.media.streams import usual_length
from citekit.adapters.libraries.pyav import created
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer

PREROLL = 2
"""Packets of sound before the start that a decoder needs for a clean start; an edit list hides them."""

MP4_OPTIONS = {"movflags": "+faststart", "movie_timescale": "90000"}

COARSE = 0.002
"""Seconds of a tick from which on a clip can only begin at one: AVI counts whole pictures."""

_REPORT_EVERY = 200


@frozen
class Copied:
    """What a clip shows and where its bytes begin, in seconds from the source's start."""

    start: float
    end: float
    bytes_from: float


@define
class Track:
    """One stream on its way, in ticks of the source: `zero` becomes 0, what begins at `limit` or later is not shown.

    `stop` is where the last picture or sound is cut short; `slack` the ticks by which equal times may differ. A `strict`
    track holds nothing from before `zero`; a `floating` one lets its first packet be 0. `usual` is how long a packet is
    shown that does not say it.
    """

    stream: Any
    output: Any
    zero: int
    limit: int
    stop: int
    slack: int
    usual: int = 0
    strict: bool = False
    floating: bool = False
    first: int | None = None
    begun: bool = False
    done: bool = False
    hidden_after: bool = False
    earliest: int | None = None
    latest: int | None = None
    held_from: int | None = None
    last_dts: int | None = None
    waiting: list[Any] = field(factory=list)


def copy(
    container: InputContainer, video: Any, audio: Any, span: Span, target: Target, path: Path, progress: Progress
) -> Copied:
    """Write the packets of `span` to `path`. Raises `LocationOutside`, `ExtractionFailed`, `Cancelled`."""
    key = None if video is None else seek_key(container, video, span.low)
    begin = _begin(video, key, span, target)
    options = MP4_OPTIONS if target.suffix in (".mp4", ".m4a", ".mov") else {}
    with created(path, target.muxer, options) as output:
        tracks = [track_for(output, s, begin, span, key if s is video else None, target) for s in (video, audio) if s]
        if video is None and not target.exact:
            tracks[0].strict, tracks[0].floating = False, True
        if key is None:
            rewind(container, audio, begin - 0.5)
        else:
            rewind_to(container, video, key)
        pump(container, tracks, key, span, target, progress)
    shown = [track for track in tracks if track.latest is not None]
    if not shown:
        raise nothing_there(Path(container.name).name)
    if target.exact and any(track.hidden_after for track in tracks):
        show_until(path, span.high - begin)
    return copied(shown, begin, span, target)


def _begin(video: Any, key: KeyPicture | None, span: Span, target: Target) -> float:
    """The time of the source that becomes 0 in the clip."""
    if key is None:
        return span.low
    if not target.exact:
        return float(key.key_pts * video.time_base)
    base = float(video.time_base)
    return span.low if base < COARSE else math.floor((span.low + SLACK) / base) * base


def track_for(
    output: OutputContainer, stream: Any, begin: float, span: Span, key: KeyPicture | None, target: Target
) -> Track:
    """A new stream in `output` like `stream`, on which `begin` (the container's own time) becomes 0."""
    copied = output.add_stream_from_template(stream, opaque=True)
    copied.metadata.clear()
    base = float(stream.time_base)
    zero, stop, slack = round(begin / base), round(span.high / base), round(SLACK / base)
    first = key.first_pts if key is not None and target.exact else None
    track = Track(stream, copied, zero, max(stop - slack, zero + 1), max(stop, zero + 1), slack, first=first)
    track.usual = round(usual_length(stream))
    track.strict = not target.exact
    return track


def pump(
    container: InputContainer,
    tracks: list[Track],
    key: KeyPicture | None,
    span: Span,
    target: Target,
    progress: Progress,
) -> None:
    """Read packets until every track has all that it shows. `key` is where the pictures begin."""
    by_index = {track.stream.index: track for track in tracks}
    for number, packet in enumerate(timed(container, [track.stream for track in tracks])):
        track = by_index[packet.stream_index]
        if number % _REPORT_EVERY == 0:
            done = float(packet.dts * packet.time_base) - span.low
            progress(max(done, 0.0), span.end - span.start, "copying")
        if track.done:
            if all(each.done for each in tracks):
                break
        elif track.first is not None or track.stream.type == "video":
            picture_packet(track, packet, key)
        else:
            sound_packet(track, packet, preroll=target.exact and not track.strict)
    progress(span.end - span.start, span.end - span.start, "copying")


def picture_packet(track: Track, packet: Any, key: KeyPicture | None) -> None:
    """Pictures from the key picture on; those after the end only where one before the end comes after them."""
    pts = packet.pts
    if not track.begun:
        if key is None or not packet.is_keyframe or pts < key.key_pts:
            return
        track.begun = True
    if packet.dts >= track.limit:
        track.done = True
        return
    if pts >= track.limit:
        track.waiting.append(packet)
        return
    if track.waiting:
        track.hidden_after = True
        _write_waiting(track)
    if pts == track.first and pts <= track.zero + track.slack:
        packet.duration = max((packet.duration or 0) - (track.zero - pts), 1)
        packet.pts = track.zero
    _note(track, packet)
    write(track, packet)


def sound_packet(track: Track, packet: Any, *, preroll: bool) -> None:
    """Sound from the start on, before it what a decoder needs (`preroll`), up to the end."""
    pts = packet.pts
    if pts >= track.limit:
        track.done = True
        return
    if not track.begun:
        early = pts if track.strict else pts + (packet.duration or 0) - 1
        if early < track.zero:
            track.waiting = [*track.waiting, packet][-PREROLL:] if preroll else []
            return
        track.begun = True
        if track.floating:
            track.zero = pts
        _write_waiting(track)
    _note(track, packet)
    write(track, packet)


def _write_waiting(track: Track) -> None:
    for each in track.waiting:
        write(track, each)
    track.waiting.clear()


def _note(track: Track, packet: Any) -> None:
    """Remember what is shown, and let the last picture or sound end where the clip ends."""
    pts, duration = packet.pts, packet.duration or 0
    over = pts + duration - track.stop
    if duration > over > 0:
        packet.duration = duration = duration - over
    if track.earliest is None or pts < track.earliest:
        track.earliest = pts
    end = pts + (duration or track.usual)
    if track.latest is None or end > track.latest:
        track.latest = end


def write(track: Track, packet: Any) -> None:
    """Write `packet` with times that count from the clip's start; decoding times never go back."""
    pts, dts = packet.pts, packet.dts - track.zero
    if track.held_from is None or pts < track.held_from:
        track.held_from = pts
    pts -= track.zero
    if track.last_dts is not None and dts <= track.last_dts:
        dts = track.last_dts + 1
    packet.pts, packet.dts = pts, min(dts, pts)
    track.last_dts = packet.dts
    packet.stream = track.output
    track.output.container.mux_one(packet)


def copied(tracks: list[Track], begin: float, span: Span, target: Target) -> Copied:
    """What `tracks` show together: the first of them says where the clip begins."""
    leading = tracks[0]
    base = float(leading.stream.time_base)
    end = max(float(track.latest * track.stream.time_base) for track in tracks if track.latest is not None)
    start = begin if target.exact else float((leading.earliest or 0) * base)
    held = min(float(track.held_from * track.stream.time_base) for track in tracks if track.held_from is not None)
    low = max(start - span.zero, 0.0)
    return Copied(low, min(end - span.zero, span.end), min(max(held - span.zero, 0.0), low))
