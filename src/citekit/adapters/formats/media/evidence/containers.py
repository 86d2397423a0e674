"""Chooses the container of a clip: one that can store the codecs unchanged and that common players support.

With the edit lists of MP4 (ISO/IEC 14496-12, 8.6.6), a clip can start exactly at the requested time although its data
starts at the keyframe before it.
"""

from __future__ import annotations

from attrs import frozen


class UncopyableError(Exception):
    """The container cannot store the encoded stream, or frames cannot be copied exactly, so they must be decoded."""


@frozen
class ClipContainer:
    """A container format for clips. `muxer` is FFmpeg's name.

    `exact` is True if a clip can start exactly at the requested time.
    """

    muxer: str
    suffix: str
    media_type: str
    exact: bool = False


MP4 = ClipContainer("mp4", ".mp4", "video/mp4", exact=True)
MOV = ClipContainer("mov", ".mov", "video/quicktime", exact=True)
M4A = ClipContainer("ipod", ".m4a", "audio/mp4", exact=True)
WEBM = ClipContainer("webm", ".webm", "video/webm")
MATROSKA = ClipContainer("matroska", ".mkv", "video/x-matroska")
ASF = ClipContainer("asf", ".wmv", "video/x-ms-wmv")
WAV = ClipContainer("wav", ".wav", "audio/wav", exact=True)
AIFF = ClipContainer("aiff", ".aiff", "audio/aiff", exact=True)
FLAC = ClipContainer("flac", ".flac", "audio/flac", exact=True)

_MP4_CODECS = {"h264", "hevc", "mpeg4", "aac", "mp3", "ac3", "eac3", "alac"}
_WEBM_CODECS = {"vp8", "vp9", "av1", "opus", "vorbis"}
_AUDIO_CONTAINERS = {
    "mp3": ClipContainer("mp3", ".mp3", "audio/mpeg"),
    "aac": M4A,
    "alac": M4A,
    "ac3": M4A,
    "flac": FLAC,
    "opus": ClipContainer("opus", ".opus", "audio/ogg"),
    "vorbis": ClipContainer("ogg", ".ogg", "audio/ogg"),
}


def container_for(video: str | None, audio: str | None, source: str) -> ClipContainer:
    """Return the container for a clip with these codecs from a `source` container.

    All names are FFmpeg's. None means that there is no such stream.
    """
    codecs = {codec for codec in (video, audio) if codec is not None}
    if video is None:
        return _container_for_audio(audio or "", source)
    if codecs <= _MP4_CODECS:
        return MP4
    if codecs <= _WEBM_CODECS:
        return WEBM
    if "mp4" in source and _is_pcm(audio) and {video} <= _MP4_CODECS:
        return MOV
    return ASF if source == "asf" else MATROSKA


def _container_for_audio(codec: str, source: str) -> ClipContainer:
    """Return the container for a clip with audio only. FLAC is also used for audio that must be decoded to be cut."""
    if _is_pcm(codec):
        return AIFF if source == "aiff" and codec.endswith("be") else WAV if _fits_wav(codec) else FLAC
    return _AUDIO_CONTAINERS.get(codec, FLAC)


def _is_pcm(codec: str | None) -> bool:
    return codec is not None and codec.startswith("pcm_")


def _fits_wav(codec: str) -> bool:
    return codec.endswith("le") or codec in ("pcm_u8", "pcm_alaw", "pcm_mulaw")
