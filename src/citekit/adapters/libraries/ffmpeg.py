"""Runs the ffmpeg program, found on the PATH or in the extra `ffmpeg`, in a child process."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from citekit.adapters.system.child_process import environment
from citekit.domain.errors import DriverMissing, ExtractionFailed
from citekit.domain.progress import Progress

TIME_LIMIT = 3600.0
"""Seconds after which a run is stopped."""

_POLL = 0.1
_MESSAGES = 65_536


def program() -> str:
    """Return the path of the ffmpeg program. Raise `DriverMissing` if it is not installed."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise DriverMissing("Extracting clips with the ffmpeg program", "ffmpeg") from error


def run(command: Sequence[str], progress: Progress, limit: float = TIME_LIMIT) -> None:
    """Run the ffmpeg `command` until it ends, in an environment without API keys.

    The process is killed after `limit` seconds, or if `progress` raises. Raise `ExtractionFailed` if the program fails,
    with its last message, or takes too long, and errors of `progress`.
    """
    with tempfile.TemporaryFile() as words:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=words, env=environment()
        ) as child:
            try:
                _watch(child, progress, limit)
            except BaseException:
                child.kill()
                raise
        if child.returncode:
            words.seek(max(0, words.seek(0, os.SEEK_END) - _MESSAGES))
            raise ExtractionFailed(f"ffmpeg could not extract the clip: {_last_line(words.read())}.")


def _watch(child: subprocess.Popen[bytes], progress: Progress, limit: float) -> None:
    started = monotonic()
    while True:
        try:
            child.wait(_POLL)
            return
        except subprocess.TimeoutExpired:
            progress(monotonic() - started, None, "extracting with ffmpeg")
        if monotonic() - started > limit:
            raise ExtractionFailed(f"ffmpeg took longer than {limit:g} s; request a shorter part.")


def _last_line(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300].rstrip(".") if lines else "no reason given"


def file_url(path: Path) -> str:
    """Return `path` as a URL that ffmpeg always treats as a local file."""
    return f"file:{path.absolute()}"
