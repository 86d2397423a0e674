"""Writes text to the terminal with CiteKit's own styles; all other control characters are escaped.

While a command runs, guards replace `sys.stdout` and `sys.stderr`, so that control characters are escaped and secrets
removed in what libraries print or log, even to files and pipes, which may later be shown on a terminal. Programs should
use `--json`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TextIO, cast

import click

from citekit.domain.unicode_controls import printable, visible
from citekit.settings.secrets import concealed

_MARK = f"\x1b{os.urandom(8).hex()}["
"""The beginning of a style change: random, so that text from a file cannot imitate one."""

_COLORS = {"red": 31, "green": 32, "yellow": 33, "cyan": 36}


def styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Return `text` with marks for a color (`red`, `green`, `yellow`, `cyan`), bold, or dim, which take effect on a
    terminal.
    """
    codes = [*([_COLORS[fg]] if fg else []), *([1] if bold else []), *([2] if dim else [])]
    return f"{_MARK}{';'.join(map(str, codes))}m{text}{_MARK}0m"


def shown(text: str) -> str:
    """Return a line as it is printed: with styles, without secrets, and with other control characters, including line
    ends, escaped.
    """
    return _shown(text, "")


def echo(lines: Iterable[str], stream: TextIO) -> None:
    """Write lines to `stream` or, if it is a guard, to the stream behind it, with control characters escaped."""
    click.echo("\n".join(map(shown, lines)), file=bare(stream))


def echo_document(text: str, stream: TextIO) -> None:
    """Write a JSON document, whose control characters are already escaped, to `stream`."""
    click.echo(text, file=bare(stream))


def bare(stream: TextIO) -> TextIO:
    """Return the stream behind a guard, or else `stream` itself."""
    return stream.guarded if isinstance(stream, Guard) else stream


class Guard:
    """A text stream that writes to `guarded`, without secrets and with control characters, except line ends and tabs,
    escaped.
    """

    def __init__(self, guarded: TextIO) -> None:
        self.guarded = guarded

    def write(self, text: str) -> int:
        """Write `text` with control characters escaped. Return its number of characters."""
        self.guarded.write(_shown(text, "\n\t"))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of the lines with control characters escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "detach"):  # these would bypass the guard
            raise AttributeError(name)
        return getattr(self.guarded, name)


def guard(stream: TextIO) -> TextIO:
    """Return a guard for `stream`, which may be a guard already."""
    return stream if isinstance(stream, Guard) else cast("TextIO", Guard(stream))


@contextmanager
def guarded() -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr` with guards during a `with` block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and guard(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _shown(text: str, but: str) -> str:
    text = concealed(text)
    if text.isascii() and text.isprintable():
        return text
    if _MARK not in text:
        return visible(text, but=but) if but else printable(text)
    parts = _styles().split(text)
    return "".join(f"\x1b[{part}m" if at % 2 else visible(part, but=but) for at, part in enumerate(parts))


@cache
def _styles() -> re.Pattern[str]:
    return re.compile(rf"{re.escape(_MARK)}([0-9;]+)m")
