"""Reads and writes media files with PyAV, which runs FFmpeg in this process, with local files only."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.domain.errors import (
    CiteKitError,
    DriverMissing,
    ExtractionFailed,
    HomeUnwritable,
    SourceUnreadable,
    SourceUnsupported,
)

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer

DEMUXERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,live_flv,asf,ogg,mp3,wav,w64,aac,flac,aiff,caf,"
    "ac3,eac3,amr,au,tta,wv,ape,m4v,h264,hevc,obu,ivf,gif"
)
"""Formats that can be opened. Playlists (HLS, DASH, concat) and image patterns are excluded."""

PIXEL_LIMIT = 2**26
"""The maximum number of pixels of a frame that is decoded (67 million). An 8K frame has 33 million."""

DTS_SYNC = re.compile(
    rb"\x7f\xfe\x80\x01|\xfe\x7f\x01\x80|\x1f\xff\xe8\x00\x07[\xf0-\xff]|\xff\x1f\x00\xe8[\xf0-\xff]\x07"
)
"""The sync words of DTS frames in words of 16 and 14 bits and both byte orders (ETSI TS 102 114)."""

DTS_SEARCH_SIZE = 2**18
"""Number of bytes at the start of a WAV file that are searched for DTS."""

WAV_PACKET = 2**16
"""Maximum size in bytes of the packets in which a WAV file is read."""


class Cause(Enum):
    """The cause of an FFmpeg error: the content of the file, access to the file, or FFmpeg itself."""

    FILE = "file"
    ACCESS = "access"
    DRIVER = "driver"


_EXCEPTIONS = {
    Cause.FILE: """
        InvalidDataError EOFError PatchWelcomeError NotImplementedError DemuxerNotFoundError DecoderNotFoundError
        ProtocolNotFoundError BSFNotFoundError LookupError OverflowError InputChangedError ExperimentalError
    """,
    Cause.ACCESS: """
        FileNotFoundError IsADirectoryError NotADirectoryError PermissionError FileExistsError OSError
    """,
    Cause.DRIVER: """
        FFmpegError ArgumentError BlockingIOError BrokenPipeError BufferTooSmallError BugError ChildProcessError
        ConnectionAbortedError ConnectionRefusedError ConnectionResetError EncoderNotFoundError ExitError
        ExternalError FilterNotFoundError HTTPError HTTPBadRequestError HTTPClientError HTTPForbiddenError
        HTTPNotFoundError HTTPOtherClientError HTTPServerError HTTPTooManyRequestsError HTTPUnauthorizedError
        InterruptedError MemoryError MuxerNotFoundError OptionNotFoundError OutputChangedError ProcessLookupError
        PyAVCallbackError TimeoutError UndefinedError UnknownError
    """,
}

CAUSES: dict[str, Cause] = {name: blame for blame, names in _EXCEPTIONS.items() for name in names.split()}
"""The cause of each exception class of `av.error`, by class name."""

_DISK_FULL = {errno.ENOSPC, errno.EROFS, errno.EDQUOT}


def library() -> Any:
    """Return the module `av` with FFmpeg's log turned off. Raise `DriverMissing` if it is not installed."""
    try:
        import av
        import av.logging
    except ImportError as error:
        raise DriverMissing("Reading video and audio", "media") from error

    if av.logging.get_level() is not None:
        av.logging.set_level(None)
    return av


@contextmanager
def open_media(path: Path, fallback: type[CiteKitError] = SourceUnsupported) -> Iterator[InputContainer]:
    """Open the media file at `path` for reading. Other files to which it refers are not opened.

    Errors of FFmpeg, also inside the block, are translated (see `translated_errors`, whose `otherwise` is `fallback`).
    Raise `DriverMissing` if PyAV is not installed.
    """
    av = library()
    limits = {
        "protocol_whitelist": "file",
        "format_whitelist": DEMUXERS,
        "fflags": "+genpts",
        "max_streams": "100",
        **_probe_options(path),
    }
    with (
        translated_errors(path, fallback),
        av.open(f"file:{path.absolute()}", container_options=limits, metadata_errors="replace") as container,
    ):
        for stream in container.streams.video:
            if stream.codec_context is None:  # an unknown codec
                continue
            stream.codec_context.options = {"max_pixels": str(PIXEL_LIMIT)}
        yield container


def _probe_options(path: Path) -> dict[str, str]:
    """Return FFmpeg options for a WAV file: short detection of streams, and packets of a useful size.

    Return {} for other files, and for WAV files that seem to contain DTS. Because a WAV file can contain DTS, FFmpeg
    tries its formats on the samples, which takes most of the time to open the file. By default, a packet lasts a
    fraction of a second, which is a single sample at a rate of a few hertz.
    """
    try:
        with path.open("rb") as file:
            if file.read(12)[8:] != b"WAVE":
                return {}
            if DTS_SYNC.search(file.read(DTS_SEARCH_SIZE)):
                return {}
    except OSError:
        return {}
    return {"max_probe_packets": "1", "max_size": str(WAV_PACKET)}


@contextmanager
def create_media(target: Path, muxer: str, options: dict[str, str]) -> Iterator[OutputContainer]:
    """Create a media file at `target` in the format `muxer`. The same input gives the same bytes."""
    av = library()
    with av.open(
        f"file:{target.absolute()}", "w", format=muxer, container_options={"fflags": "+bitexact", **options}
    ) as container:
        yield container


@contextmanager
def translated_errors(path: Path, otherwise: type[CiteKitError] = ExtractionFailed) -> Iterator[None]:
    """Translate PyAV's errors inside the block to CiteKit errors about the file at `path`.

    They become `SourceUnsupported` (content), `SourceUnreadable` (access), `HomeUnwritable` (disk full or read-only),
    or `otherwise` (FFmpeg itself, or an error of another kind).
    """
    av = library()
    try:
        yield
    except CiteKitError:
        raise
    except av.error.FFmpegError as error:
        raise _translate(error, path, otherwise) from error
    except OSError as error:
        raise _translate_os_error(error, path) from error
    except (ValueError, RuntimeError, LookupError, TypeError, MemoryError, AttributeError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise otherwise(f"{path.name} cannot be processed: {reason}.") from error


def _translate(error: Any, path: Path, otherwise: type[CiteKitError]) -> CiteKitError:
    if getattr(error, "errno", None) in _DISK_FULL:
        return HomeUnwritable(
            "The disk is full or read-only, or a quota is used up; free some space or make it writable, and try again."
        )
    if getattr(error, "errno", None) == errno.EPERM:  # FFmpeg's -1, for example if a file without packets is searched
        return SourceUnsupported(f"{path.name} is not a playable video or audio file, or is damaged.")
    reason = str(getattr(error, "strerror", None) or error).rstrip(".")
    match CAUSES.get(type(error).__name__, Cause.DRIVER):
        case Cause.FILE:
            return SourceUnsupported(f"{path.name} is not a playable video or audio file, or is damaged: {reason}.")
        case Cause.ACCESS:
            return SourceUnreadable(f"{path} cannot be read: {reason}.")
        case Cause.DRIVER:
            return otherwise(f"{path.name} cannot be processed by FFmpeg: {reason}.")


def _translate_os_error(error: OSError, path: Path) -> CiteKitError:
    if error.errno in _DISK_FULL:
        return HomeUnwritable(
            "The disk is full or read-only, or a quota is used up; free some space or make it writable, and try again."
        )
    return SourceUnreadable(f"{path} cannot be read: {error.strerror or error}.")
