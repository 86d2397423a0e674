"""Cuts clips and stills out of video and audio."""

from __future__ import annotations

from citekit.adapters.extraction.media.clip import PyAvClipExtractor
from citekit.adapters.extraction.media.ffmpeg_binary import FfmpegExtractor
from citekit.adapters.extraction.media.showing import FileClips, JpegStills
from citekit.adapters.extraction.media.still import PyAvStillExtractor

__all__ = ["FfmpegExtractor", "FileClips", "JpegStills", "PyAvClipExtractor", "PyAvStillExtractor"]
