"""Text from files and names, made safe for a terminal."""

from __future__ import annotations

from citekit.entrypoints.invisible import printable, visible

__all__ = ["printable", "visible"]
