"""Reads the cues of subtitle and transcript files: SubRip, WebVTT, (Advanced) SubStation Alpha, LRC, and timed text.

For WebVTT, see https://www.w3.org/TR/webvtt1/.
"""

from __future__ import annotations

import codecs
import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.domain.ports.media_probe import Cue

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatches

FILE_LIMIT = 16 * 2**20
"""The maximum size of a sidecar, in bytes."""

CUE_LIMIT = 100_000
"""The maximum number of cues that are read from a file."""

TRANSCRIPT_SUFFIXES = (".lrc", ".txt")
"""Suffixes of lyrics and transcripts, whose lines begin with the time at which they are spoken."""

SUFFIXES = (".vtt", ".srt", ".ass", ".ssa", *TRANSCRIPT_SUFFIXES)

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.:](\d{1,3})"
_TIMING = re.compile(rf"\s*{_STAMP}\s*-{{1,2}}>\s*{_STAMP}(?!\d)")
_CLOCK = re.compile(r"(?:(?:(\d{1,4}):)?(\d{1,4}):)?(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})", re.ASCII)
_COLUMNS = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
_TIMED_LINE = re.compile(
    r"\s*[\[(]?(?:(\d{1,3}):)?(\d{1,3}):(\d{2})(?:[.,:](\d{1,3}))?(?:[\])]|(?=\s|$))\s*(?:[-–—:]\s)?"
)
_WORD_TIMES = re.compile(r"<\d{1,3}:\d{2}(?:[.:]\d{1,3})?>")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}")
_VOICE = re.compile(r"<v(?:\.[^\s<>]{0,100})?\s([^<>]{1,200})>")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

_ENCODINGS = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "koi8_r", "koi8_u"),
    *("cp932", "shift_jis", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949", "euc_kr", "utf_8"),
]
"""The encodings, from https://encoding.spec.whatwg.org/, among which that of a file is guessed.

Other encodings are rare, and cause more wrong guesses than right ones.
"""


def find_sidecar(media: Path) -> Path | None:
    """Return the subtitle file of `media` in the same folder, or None.

    Its name has the same stem, apart from upper and lower case, and may continue with up to 20 characters, such as a
    language (`talk.en.srt`). The name with the fewest dots is preferred, then the first by the order of `SUFFIXES`, then
    the first by name. Empty files, files of more than `FILE_LIMIT` bytes, and texts (`.txt`) without times are ignored. A
    symbolic link is used only if the media file is also one, because it may lead to unrelated files.
    """
    stem = f"{media.stem}.".casefold()
    try:
        links = media.is_symlink()
        found = [path for path in media.parent.iterdir() if _belongs(path, stem) and (links or not path.is_symlink())]
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
    if len(between) > 20 or not path.is_file() or not 0 < path.stat().st_size <= FILE_LIMIT:
        return False
    return path.suffix.lower() != ".txt" or _is_timed(path)


def _is_timed(path: Path) -> bool:
    """Return whether the first 16 KiB of a text have at least two lines, half of which or more start with a time.

    Empty lines are not counted.
    """
    with path.open("rb") as stream:
        lines = [line for line in decoded(stream.read(16384)).splitlines() if line.strip()]
    return len(lines) > 1 and sum(bool(_TIMED_LINE.match(line)) for line in lines) * 2 >= len(lines)


def read_cues(path: Path, duration: float = math.inf) -> list[Cue]:
    """Return the cues of a subtitle file ordered by time; empty if the file is unreadable or has no cues.

    Cues that have no text or do not end after their start are left out. A line of lyrics or of a transcript lasts until
    the next one; the last one lasts until `duration`, in seconds, or for 5 seconds if that is infinite.
    """
    try:
        text = decoded(path.read_bytes())
    except OSError:
        return []
    suffix = path.suffix.lower()
    if suffix in TRANSCRIPT_SUFFIXES:
        return _with_end_times(sorted(_timed_lines(text))[:CUE_LIMIT], duration)
    spoken = suffix in (".ass", ".ssa")
    found = (cue for _, cue in dialogue(text.splitlines())) if spoken else _timed_blocks(text)
    cues = [cue for cue, _ in zip(found, range(CUE_LIMIT), strict=False)]
    return sorted((cue for cue in cues if cue.text and cue.end > cue.start), key=lambda cue: cue.start)


def decoded(data: bytes) -> str:
    """Return `data` as text, decoded by its byte-order mark, as UTF-16 or UTF-8, or in its most likely encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    for encoding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        if _is_wide(data[:4096], high):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        return data.decode(_best_guess(from_bytes(data[:65536], cp_isolation=_ENCODINGS)), "replace")


def _is_wide(head: bytes, high: int) -> bool:
    """Return whether `head` looks like UTF-16 without a byte-order mark.

    `high` is the offset of the high byte in each pair: 1 for little-endian text, 0 for big-endian text.
    """
    pairs = len(head) // 2
    return head[high::2].count(0) * 10 > pairs and head[1 - high :: 2].count(0) * 100 <= pairs


def _best_guess(guesses: CharsetMatches) -> str:
    """Return the most likely encoding. Western European (cp1252) wins ties, and is returned if there are no guesses."""
    best = guesses.best()
    if best is None:
        return "cp1252"
    western = next((guess for guess in guesses if guess.encoding == "cp1252"), None)
    same = western is not None and (western.chaos, western.coherence) == (best.chaos, best.coherence)
    return "cp1252" if same else best.encoding


def _timed_blocks(text: str) -> Iterator[Cue]:
    """Yield the cues of SubRip and WebVTT text, which end at an empty line or the next timing line."""
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
        raw = " ".join(body)
        yield Cue(_seconds(*match.groups()[:4]), _seconds(*match.groups()[4:]), plain(raw), voice_of(raw))


def dialogue(lines: Iterable[str]) -> Iterator[tuple[int, Cue]]:
    """Yield the line number, from 1, and the cue of each `Dialogue:` line in the `[Events]` section of SubStation Alpha
    text.
    """
    columns = _COLUMNS
    inside = False
    for number, line in enumerate(lines, 1):
        name, _, rest = line.partition(":")
        if line.startswith("["):
            inside = line.strip().lower() == "[events]"
        elif inside and name.strip() == "Format":
            columns = [column.strip().lower() for column in rest.split(",")]
        elif inside and name.strip() == "Dialogue":
            cells = dict(zip(columns, rest.split(",", len(columns) - 1), strict=False))
            body = re.sub(r"\\[Nnh]", " ", cells.get("text", ""))
            voice = " ".join((cells.get("name") or cells.get("actor") or "").split())
            yield number, Cue(_clock(cells.get("start", "")), _clock(cells.get("end", "")), plain(body), voice)


def _timed_lines(text: str) -> Iterator[tuple[float, str]]:
    """Yield the time in seconds and the text of lines with times; LRC's `[offset:+500]` subtracts 500 ms."""
    moved = re.search(r"^\[offset:\s*([+-]?\d{1,7})\s*\]", text, re.MULTILINE)
    earlier = int(moved[1]) / 1000 if moved else 0.0
    for line in text.splitlines():
        rest = line
        times = []
        while match := _TIMED_LINE.match(rest):
            hours, minutes, seconds, fraction = match.groups()
            times.append(_seconds(hours, minutes, seconds, fraction or "0"))
            rest = rest[match.end() :]
        words = plain(_WORD_TIMES.sub("", rest))
        yield from ((max(time - earlier, 0.0), words) for time in times)


def _with_end_times(lines: Sequence[tuple[float, str]], duration: float) -> list[Cue]:
    """Return a cue for each (time, text) pair that has text and ends after its time; for the ends, see `read_cues`."""
    ends = (
        [time for time, _ in lines[1:]] + [duration if math.isfinite(duration) else lines[-1][0] + 5.0] if lines else []
    )
    return [Cue(start, end, text) for (start, text), end in zip(lines, ends, strict=True) if text and end > start]


def voice_of(text: str) -> str:
    """Return the only speaker in the markup of a WebVTT cue (`<v Anna>`), or ""."""
    names = {" ".join(html.unescape(name).split()) for name in _VOICE.findall(text)}
    return names.pop() if len(names) == 1 else ""


_NAMED = re.compile(r"\s*([^\W\d_][^:<>\n]{0,59}):\s")
_FEWEST_NAMED = 3
_MOST_NAMES = 40


def named_speakers(texts: Sequence[str]) -> list[str]:
    """Return the name before the first colon of each text, as in transcripts of meetings (`Anna: Hello`), or "".

    All results are "" if too few texts begin with a name, or if the names are too many.
    """
    found = [match[1] if (match := _NAMED.match(text)) else "" for text in texts]
    names = Counter(filter(None, found))
    count = names.total()
    if count < _FEWEST_NAMED or count * 2 < len(texts) or len(names) > min(_MOST_NAMES, count // 2 + 1):
        return [""] * len(texts)
    return found


def plain(text: str) -> str:
    """Return the text of a cue on one line, without markup."""
    return " ".join(html.unescape(_MARKUP.sub("", text)).split())


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{int(seconds)}.{fraction}")


def _clock(text: str) -> float:
    """Return the time `text` (`h:mm:ss.cc`, `mm:ss.cc`, or `ss.cc`) in seconds; 0 for any other text."""
    found = _CLOCK.fullmatch(text.strip())
    return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + float(found[3]) if found else 0.0
