"""Cuts exact clips without hidden frames at the start.

The part up to the next keyframe is encoded again, and the rest is copied. Both parts are H.264 in one MP4 track, whose
`avcC` record contains the parameter sets of both, with different IDs. If they cannot be joined, all video of the clip
is encoded again, and a note says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.media.evidence.containers import MP4
from citekit.adapters.formats.media.evidence.encoding import MP4_AUDIO_CODECS, decode_from, h264_encoder, re_encode
from citekit.adapters.formats.media.evidence.h264 import AvcConfiguration, is_idr, nal_units, to_mp4_sample
from citekit.adapters.formats.media.evidence.mp4_edit_list import limit_shown_duration
from citekit.adapters.formats.media.evidence.stream_copy import (
    MP4_OPTIONS,
    ClipTimes,
    Track,
    clip_times,
    copy_packets,
    track_for,
)
from citekit.adapters.formats.media.evidence.timeline import (
    TOLERANCE,
    SeekPoint,
    Span,
    find_seek_point,
    nothing_readable,
    seek_time,
    seek_to,
    timestamped_packets,
)
from citekit.adapters.formats.media.streams import codec_name
from citekit.adapters.libraries.pyav import create_media, library
from citekit.domain.numbers import shortest
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

REENCODED_SET_ID = 31
"""The ID of the parameter sets of the re-encoded part. Sources use low numbers."""

_PROFILES = {"Constrained Baseline": "baseline", "Baseline": "baseline", "Main": "main", "High": "high"}


@frozen
class Join:
    """The keyframe at which copying begins, with its times in units of the stream's time base."""

    pts: int
    dts: int


def smart_cut(
    container: InputContainer, video: Any, audio: Any, span: Span, path: Path, progress: Progress
) -> tuple[ClipTimes, list[str]]:
    """Write exactly `span` to a file at `path`.

    Return the times of the clip, and notes about what was encoded again. Raise `LocationOutside` if no frame is shown
    there, and `ExtractionFailed` if no frame can be read.
    """
    point = find_seek_point(container, video, span.low)
    obstacle = _join_obstacle(video, audio)
    join = None if obstacle else _find_join(container, video, point, span)
    if join is None:
        times = re_encode(container, video, audio, span, point, path, progress)
        reason = obstacle or "no keyframe suitable for a join was found in it"
        return times, [f"All video of the clip was re-encoded, because {reason}."]
    times = _write_joined(container, video, audio, span, point, join, path, progress)
    at = float(join.pts * video.time_base) - span.zero
    if join.pts == point.first_pts:
        return times, ["Nothing was re-encoded: the clip begins at a keyframe."]
    return times, [f"The video was re-encoded up to the keyframe at {shortest(round(at, 3))} s; the rest is a copy."]


def _join_obstacle(video: Any, audio: Any) -> str | None:
    """Return the reason why newly encoded frames cannot be joined with frames copied from this video, or None."""
    context = video.codec_context
    if codec_name(video) != "h264":
        return f"its video is {codec_name(video)}, and only h264 can be joined"
    if audio is not None and codec_name(audio) not in MP4_AUDIO_CODECS:
        return f"its audio is {codec_name(audio)}, which CiteKit does not copy to MP4 clips"
    if context.pix_fmt not in ("yuv420p", "yuvj420p") or context.profile not in _PROFILES:
        return f"its profile and pixel format ({context.profile}, {context.pix_fmt}) cannot be matched"
    if context.width % 2 or context.height % 2:
        return "its video has an odd width or height"
    record = AvcConfiguration.read(context.extradata or b"")
    if record is None or REENCODED_SET_ID in record.set_ids():
        return "its parameter sets cannot be combined with new ones"
    return None


def _find_join(container: InputContainer, video: Any, point: SeekPoint, span: Span) -> Join | None:
    """Return the first keyframe from which copying can begin, or None.

    It must be an IDR picture, and no packet after it may be shown before it.
    """
    seek_to(container, video, point)
    limit = round((span.high - TOLERANCE) / video.time_base)
    join: Join | None = None
    for packet in timestamped_packets(container, [video]):
        if join is not None:
            if packet.dts >= join.pts:
                return join
            if packet.pts < join.pts:
                return None
        elif packet.dts >= limit:
            return None
        elif packet.is_keyframe and point.first_pts <= packet.pts < limit:
            if not is_idr(bytes(packet)):
                return None
            join = Join(packet.pts, packet.dts)
    return join


def _write_joined(
    container: InputContainer,
    video: Any,
    audio: Any,
    span: Span,
    point: SeekPoint,
    join: Join,
    path: Path,
    progress: Progress,
) -> ClipTimes:
    with create_media(path, MP4.muxer, MP4_OPTIONS) as output:
        tracks = [track_for(output, stream, span.low, span, None, MP4) for stream in (video, audio) if stream]
        for track in tracks:
            track.strict = True
        if join.pts == point.first_pts:
            tracks[0].first = join.pts
        else:
            _encode_until_join(container, tracks[0], point, join, progress)
        seek_to(container, video, point)
        copy_packets(container, tracks, SeekPoint(join.pts, join.dts, join.pts), span, MP4, progress)
    if tracks[0].latest is None:
        raise nothing_readable(Path(container.name).name)
    if tracks[0].hidden_after:
        limit_shown_duration(path, span.end - span.start)
    return clip_times(tracks, span.low, span, MP4)


def _encode_until_join(
    container: InputContainer, track: Track, point: SeekPoint, join: Join, progress: Progress
) -> None:
    """Encode the frames before the join, with decoding times that are delayed like those of the copied frames."""
    video = track.stream
    encoder = _encoder(video)
    encoder.open()
    record = AvcConfiguration.read(video.codec_context.extradata or b"")
    assert record is not None
    track.output.codec_context.extradata = record.with_sets(nal_units(encoder.extradata)).to_bytes()
    delay = join.pts - join.dts
    for frame in decode_from(container, video, seek_time(container, video, point), point.first_pts):
        if frame.pts >= join.pts:
            break
        if frame.pts < point.first_pts:
            continue
        frame.pts = max(frame.pts, track.zero) if frame.pts != point.first_pts else track.zero
        frame.pict_type = 0
        progress(0.0, None, "encoding up to the next keyframe")
        for packet in encoder.encode(frame):
            _write_encoded(track, packet, delay)
    for packet in encoder.encode(None):
        _write_encoded(track, packet, delay)


def _encoder(video: Any) -> Any:
    context = video.codec_context
    options = {
        "profile": _PROFILES[context.profile],
        "x264-params": f"sps-id={REENCODED_SET_ID}:bframes=0:annexb=1:force-cfr=0",
    }
    return h264_encoder(video, context.pix_fmt, (context.width, context.height), options)


def _write_encoded(track: Track, packet: Any, delay: int) -> None:
    av = library()
    sample = av.Packet(to_mp4_sample(bytes(packet)))
    sample.time_base = packet.time_base
    sample.pts, sample.duration = packet.pts - track.zero, packet.duration or 0
    sample.dts = packet.pts - track.zero - delay
    sample.is_keyframe = packet.is_keyframe
    sample.stream = track.output
    track.earliest = packet.pts if track.earliest is None else min(track.earliest, packet.pts)
    track.stored_from = packet.pts if track.stored_from is None else min(track.stored_from, packet.pts)
    track.latest = max(track.latest or 0, packet.pts + (packet.duration or 0))
    track.last_dts = sample.dts
    track.output.container.mux_one(sample)
