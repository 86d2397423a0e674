"""Which container a clip goes into: one that takes the codecs as they are, and is played by ordinary players.

MP4 has edit lists (ISO/IEC 14496-12, 8.6.6): a clip shows exactly the asked start though its bytes begin at the key
picture before it. The others begin where their bytes begin.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Target:
    """`muxer` is FFmpeg's name; `exact` says that the container can hide what comes before the asked start."""

    muxer: str
    suffix: str
    media_type: str
    exact: bool = False


MP4 = Target("mp4", ".mp4", "video/mp4", exact=True)
MOV = Target("mov", ".mov", "video/quicktime", exact=True)
M4A = Target("ipod", ".m4a", "audio/mp4", exact=True)
WEBM = Target("webm", ".webm", "video/webm")
MATROSKA = Target("matroska", ".mkv", "video/x-matroska")
ASF = Target("asf", ".wmv", "video/x-ms-wmv")
WAV = Target("wav", ".wav", "audio/wav", exact=True)
AIFF = Target("aiff", ".aiff", "audio/aiff", exact=True)
FLAC = Target("flac", ".flac", "audio/flac", exact=True)

_IN_MP4 = {"h264", "hevc", "mpeg4", "aac", "mp3", "ac3", "eac3", "alac"}
_IN_WEBM = {"vp8", "vp9", "av1", "opus", "vorbis"}
_AUDIO = {
    "mp3": Target("mp3", ".mp3", "audio/mpeg"),
    "aac": M4A,
    "alac": M4A,
    "ac3": M4A,
    "flac": FLAC,
    "opus": Target("opus", ".opus", "audio/ogg"),
    "vorbis": Target("ogg", ".ogg", "audio/ogg"),
}


def container_for(video: str | None, audio: str | None, source: str) -> Target:
    """The container for these codecs (FFmpeg's names; None where there is none), cut out of a `source` container."""
    codecs = {codec for codec in (video, audio) if codec is not None}
    if video is None:
        return _for_sound(audio or "", source)
    if codecs <= _IN_MP4:
        return MP4
    if codecs <= _IN_WEBM:
        return WEBM
    if "mp4" in source and _lossless(audio) and {video} <= _IN_MP4:
        return MOV
    return ASF if source == "asf" else MATROSKA


def _for_sound(codec: str, source: str) -> Target:
    """What has no container that can be cut cleanly is decoded, and kept without loss."""
    if _lossless(codec):
        return AIFF if source == "aiff" and codec.endswith("be") else WAV if _in_wav(codec) else FLAC
    return _AUDIO.get(codec, FLAC)


def _lossless(codec: str | None) -> bool:
    return codec is not None and codec.startswith("pcm_")


def _in_wav(codec: str) -> bool:
    return codec.endswith("le") or codec in ("pcm_u8", "pcm_alaw", "pcm_mulaw")
