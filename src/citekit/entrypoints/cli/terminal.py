"""The one way to the terminal: whatever is written has only the colours that a command gave it, and no other control.

The streams themselves are exchanged while a command runs, so that neither a command nor a library can forget it: what is
printed, logged, warned of or traced goes through them too, and no key or password of this process gets out by them. It is
the same for a file or a pipe, as with git: it may be shown on a terminal later. Programs take `--json`, which loses nothing.
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
"""Begins a change of style; nobody outside this process can guess it, so that nothing from a file is taken for one."""

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "cyan": 36}


def styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """`text` in a colour (`red`, `green`, `yellow`, `cyan`), bold or dim, where it is shown on a terminal."""
    codes = [*([_COLOURS[fg]] if fg else []), *([1] if bold else []), *([2] if dim else [])]
    return f"{_MARK}{';'.join(map(str, codes))}m{text}{_MARK}0m"


def shown(text: str) -> str:
    """A line as it is shown: with the styles of `styled`; other controls, line ends too, as escapes."""
    return _shown(text, "")


def echo(lines: Iterable[str], stream: TextIO) -> None:
    """Write lines on `stream`, which may be one of `guarded`."""
    click.echo("\n".join(map(shown, lines)), file=bare(stream))


def echo_document(text: str, stream: TextIO) -> None:
    """Write a document of a program, which escapes what is not seen by rules of its own."""
    click.echo(text, file=bare(stream))


def bare(stream: TextIO) -> TextIO:
    """The stream that `stream` guards, or itself."""
    return stream.guarded if isinstance(stream, Guard) else stream


class Guard:
    """A text stream that writes what others print onto `guarded`, where line ends and tabs are the only controls."""

    def __init__(self, guarded: TextIO) -> None:
        self.guarded = guarded

    def write(self, text: str) -> int:
        """Write `text` with all else escaped; the number of its characters."""
        self.guarded.write(_shown(text, "\n\t"))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "detach"):  # a way round
            raise AttributeError(name)
        return getattr(self.guarded, name)


def guard(stream: TextIO) -> TextIO:
    """`stream` behind a guard; only once."""
    return stream if isinstance(stream, Guard) else cast("TextIO", Guard(stream))


@contextmanager
def guarded() -> Iterator[None]:
    """The time in which standard output and standard error are behind guards."""
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
