"""Outlines video and audio: chapters, else subtitles, else scenes or stretches of speech."""

from __future__ import annotations

from citekit.adapters.mapping.local.media.outliner import MediaOutliner

__all__ = ["MediaOutliner"]
