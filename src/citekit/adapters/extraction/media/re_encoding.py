"""Clips that are encoded as a whole: H.264, with the sound copied where an MP4 takes it, else AAC."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav import created
from citekit.adapters.drivers.pyav_streams import codec_name
from citekit.adapters.extraction.media.containers import MP4
from citekit.adapters.extraction.media.copying import MP4_OPTIONS, Copied, sound_packet, track_for
from citekit.adapters.extraction.media.encoding import QUALITY, add_aac, decoded, encode_sound, imitate
from citekit.adapters.extraction.media.timeline import SLACK, KeyPicture, Span, key_time, nothing_there, rewind, timed
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

TICK = Fraction(1, 90_000)
"""Seconds of a tick in which encoded pictures are counted: the usual frame rates are whole numbers of it."""

COPIED_SOUND = {"aac", "mp3", "ac3", "eac3", "alac"}
"""Sound that goes into an MP4 as it is."""


def re_encode(
    container: InputContainer, video: Any, audio: Any, span: Span, key: KeyPicture, path: Path, progress: Progress
) -> Copied:
    """Write `span` as a new MP4. Raises `ExtractionFailed` where no picture could be decoded."""
    size = _even(video.codec_context.width), _even(video.codec_context.height)
    with created(path, MP4.muxer, MP4_OPTIONS) as output:
        encoder: Any = output.add_stream("libx264", rate=video.average_rate or video.guessed_rate or 25)
        imitate(encoder.codec_context, video, "yuv420p", size)
        encoder.codec_context.time_base = TICK
        encoder.codec_context.options = {**QUALITY}
        voice = _voice(output, audio, span)
        end = _pictures(container, video, encoder, span, key, progress)
        if end is None:
            raise nothing_there(Path(container.name).name)
        if audio is not None:
            _sound(container, audio, voice, span)
    return Copied(span.start, min(end - span.zero, span.end), span.start)


def _even(number: int) -> int:
    return number + number % 2


def _voice(output: Any, audio: Any, span: Span) -> Any:
    if audio is None:
        return None
    if codec_name(audio) in COPIED_SOUND:
        track = track_for(output, audio, span.low, span, None, MP4)
        track.strict = True
        return track
    return add_aac(output, audio)


def _pictures(
    container: InputContainer, video: Any, encoder: Any, span: Span, key: KeyPicture, progress: Progress
) -> float | None:
    """Encode the pictures shown in `span`; when the last of them ends, in the container's own time."""
    limit = round((span.high - SLACK) / video.time_base)
    end: float | None = None
    lengths: dict[int, int] = {}
    for frame in decoded(container, video, key_time(container, video, key), key.first_pts):
        if frame.pts >= limit:
            break
        if frame.pts < key.first_pts:
            continue
        if end is None and frame.rotation:
            encoder.set_display_rotation(frame.rotation)
        progress(max(frame.time - span.low, 0.0), span.end - span.start, "encoding")
        time = max(frame.time, span.low)
        length = float((frame.duration or 0) * video.time_base) or float(1 / encoder.codec_context.framerate)
        over = frame.time + length if frame.time + length > time else span.high  # shown longer than it says
        end = min(over, max(span.high, time + float(TICK)))
        ticks = round((time - span.low) / TICK) if frame.pts > key.first_pts else 0
        plain = frame.reformat(encoder.width, encoder.height, "yuv420p")
        plain.pts, plain.time_base, plain.pict_type = ticks, TICK, 0
        lengths[ticks] = max(round((end - time) / TICK), 1)
        _mux(encoder, plain, lengths)
    _mux(encoder, None, lengths)
    return end


def _mux(encoder: Any, frame: Any, lengths: dict[int, int]) -> None:
    for packet in encoder.encode(frame):
        packet.duration = lengths.pop(packet.pts, packet.duration)
        encoder.container.mux_one(packet)


def _sound(container: InputContainer, audio: Any, voice: Any, span: Span) -> None:
    if codec_name(audio) not in COPIED_SOUND:
        encode_sound(container, audio, voice, span.low, span.high)
        return
    rewind(container, audio, span.low - 0.5)
    for packet in timed(container, [audio]):
        sound_packet(voice, packet, preroll=False)
        if voice.done:
            return
