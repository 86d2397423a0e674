"""Subtitle files that lie beside a video or recording: SubRip, WebVTT, Advanced SubStation Alpha.

WebVTT is read as in https://www.w3.org/TR/webvtt1/, the others as players read them: what is no cue is passed over.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.domain.ports.media_probe import Cue

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatches

FILE_LIMIT = 16 * 2**20
"""Bytes of the largest subtitle file that is read."""

CUE_LIMIT = 100_000
"""Cues that are read at most."""

SUFFIXES = (".vtt", ".srt", ".ass", ".ssa")

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.:](\d{1,3})"
_TIMING = re.compile(rf"\s*{_STAMP}\s*-{{1,2}}>\s*{_STAMP}(?!\d)")
_DIALOGUE = re.compile(r"Dialogue:\s*[^,]*,([\d:.]+),([\d:.]+),(?:[^,]*,){6}(.*)")
_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def beside(media: Path) -> Path | None:
    """The subtitle file of `media` in its folder: the same stem, or the stem and a language (`talk.en.srt`).

    One without a language comes first, then by name; None where there is none of a sensible size.
    """
    stem = f"{media.stem}.".casefold()
    try:
        found = [path for path in media.parent.iterdir() if _belongs(path, stem)]
    except OSError:
        return None
    return min(
        found, key=lambda path: (path.name.count("."), SUFFIXES.index(path.suffix.lower()), path.name), default=None
    )


def _belongs(path: Path, stem: str) -> bool:
    name = path.name.casefold()
    if path.suffix.lower() not in SUFFIXES or not name.startswith(stem):
        return False
    between = name[len(stem) : -len(path.suffix)]
    return len(between) <= 20 and path.is_file() and 0 < path.stat().st_size <= FILE_LIMIT


def read_cues(path: Path) -> list[Cue]:
    """The cues of a subtitle file in order of time, text without markup; empty where it cannot be read or holds none."""
    try:
        text = decoded(path.read_bytes())
    except OSError:
        return []
    found = _dialogue(text) if path.suffix.lower() in (".ass", ".ssa") else _timed_blocks(text)
    cues = [cue for cue, _ in zip(found, range(CUE_LIMIT), strict=False)]
    return sorted((cue for cue in cues if cue.text and cue.end > cue.start), key=lambda cue: cue.start)


def decoded(data: bytes) -> str:
    """`data` as text: by its byte-order mark, as UTF-8, else by its most likely encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        return data.decode(_likeliest(from_bytes(data[:65536])), "replace")


def _likeliest(guesses: CharsetMatches) -> str:
    """The best guess; Western European, by far the most frequent, where it is as good as the best."""
    best = guesses.best()
    if best is None:
        return "cp1252"
    western = next((guess for guess in guesses if guess.encoding == "cp1252"), None)
    same = western is not None and (western.chaos, western.coherence) == (best.chaos, best.coherence)
    return "cp1252" if same else best.encoding


def _timed_blocks(text: str) -> Iterator[Cue]:
    """The cues of SubRip and WebVTT: a line of times, then lines of text up to an empty line or the next times."""
    lines = text.splitlines()
    times = [(number, match) for number, line in enumerate(lines) if (match := _TIMING.match(line))]
    for position, (number, match) in enumerate(times):
        limit = times[position + 1][0] if position + 1 < len(times) else len(lines)
        body = []
        for line in lines[number + 1 : limit]:
            if not line.strip():
                break
            body.append(line)
        if limit < len(lines) and body and number + 1 + len(body) == limit and body[-1].strip().isdigit():
            body.pop()
        yield Cue(_seconds(*match.groups()[:4]), _seconds(*match.groups()[4:]), plain(" ".join(body)))


def _dialogue(text: str) -> Iterator[Cue]:
    for line in text.splitlines():
        match = _DIALOGUE.match(line)
        if match:
            start, end, body = match.groups()
            yield Cue(_clock(start), _clock(end), plain(body.replace("\\N", " ").replace("\\n", " ")))


def plain(text: str) -> str:
    """Cue text on one line, without markup."""
    return " ".join(html.unescape(_MARKUP.sub("", text)).split())


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{int(seconds)}.{fraction}")


def _clock(text: str) -> float:
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        return 0.0
    return sum(part * 60.0**power for power, part in enumerate(reversed(parts)))
