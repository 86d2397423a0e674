"""The times at the beginnings of the lines of a log, and how grave each entry is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from attrs import frozen

_MONTHS = {
    name: n
    for n, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
_LEVEL = re.compile(
    r"(?<![A-Za-z])(?:(EMERG|ALERT|FATAL|CRITICAL|CRIT|PANIC|SEVERE)|(ERROR|ERR)|(WARNING|WARN)|(NOTICE|INFO)|"
    r"(DEBUG|TRACE|VERBOSE|FINE))(?![A-Za-z])"
    r"|\[(?:(emerg|alert|crit|fatal|critical)|(error|err)|(warning|warn)|(notice|info)|(debug|trace))\]"
    r"|(?:(?<=[\s\"=:])(?:(fatal|critical|panic)|(error|err)|(warning|warn)|(notice|info)|(debug|trace))(?=[\s\":,]))"
)
LEVELS = ("critical", "error", "warning", "info", "debug")
_STATUS = re.compile(r'" ([1-5])\d\d (?:\d+|-)(?:\s|$)')


@frozen
class Stamp:
    """A way to write times: `pattern` finds one near the beginning of a line, `read` gives its minute."""

    name: str
    pattern: re.Pattern[str]

    def minute(self, line: str) -> int | None:
        """Minutes since the year 1 (or since an unknown year's begin), None for a line without a time."""
        found = self.pattern.match(line)
        if found is None:
            return None
        try:
            return _READ[self.name](found)
        except (ValueError, OverflowError, KeyError):
            return None


def _iso(found: re.Match[str]) -> int:
    year, month, day, hour, minute = (int(found[n]) for n in range(1, 6))
    return _minutes(year, month, day, hour, minute)


def _syslog(found: re.Match[str]) -> int:
    return _minutes(4, _MONTHS[found[1].lower()], int(found[2]), int(found[3]), int(found[4]))


def _clf(found: re.Match[str]) -> int:
    return _minutes(int(found[3]), _MONTHS[found[2].lower()], int(found[1]), int(found[4]), int(found[5]))


def _ctime(found: re.Match[str]) -> int:
    return _minutes(int(found[5]), _MONTHS[found[1].lower()], int(found[2]), int(found[3]), int(found[4]))


def _epoch(found: re.Match[str]) -> int:
    seconds = int(found[1][:10])
    when = datetime.fromtimestamp(seconds, UTC)
    return _minutes(when.year, when.month, when.day, when.hour, when.minute)


def _us(found: re.Match[str]) -> int:
    month, day, year, hour, minute = (int(found[n]) for n in range(1, 6))
    hour = hour % 12 + 12 * (found[6] or "").lower().startswith("p") if found[6] else hour
    return _minutes(year, month, day, hour, minute)


def _clock(found: re.Match[str]) -> int:
    return _minutes(1, 1, 1, int(found[1]), int(found[2]))


def _minutes(year: int, month: int, day: int, hour: int, minute: int) -> int:
    if hour > 23 or minute > 59:
        raise ValueError("no such time of day")
    return datetime(year, month, day).toordinal() * 1440 + hour * 60 + minute


_BEFORE = r"(?:[^\d]{0,40}?|<\d{1,3}>\d?\s*)"
_READ = {"iso": _iso, "clf": _clf, "ctime": _ctime, "syslog": _syslog, "epoch": _epoch, "us": _us, "clock": _clock}
STAMPS = (
    Stamp("iso", re.compile(_BEFORE + r"(\d{4})[-/.](\d{2})[-/.](\d{2})[T _:](\d{2}):(\d{2})(?::\d{2})?")),
    Stamp("iso", re.compile(_BEFORE + r"(\d{4})(\d{2})(\d{2})[T _-]?(\d{2}):?(\d{2})(?::?\d{2})?(?!\d)")),
    Stamp("clf", re.compile(r".{0,300}?\[(\d{1,2})/([A-Za-z]{3})/(\d{4}):(\d{2}):(\d{2}):\d{2}")),
    Stamp("ctime", re.compile(r".{0,20}?([A-Z][a-z]{2})\s+(\d{1,2}) (\d{2}):(\d{2}):\d{2}(?:\.\d+)? (\d{4})\b")),
    Stamp("syslog", re.compile(r"(?:<\d{1,3}>)?([A-Z][a-z]{2})\s+(\d{1,2}) (\d{2}):(\d{2}):\d{2}\b")),
    Stamp(
        "us", re.compile(_BEFORE + r"(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d{2})(?::\d{2})?(?: ?([AaPp])\.?[Mm])?")
    ),
    Stamp("epoch", re.compile(r"[\[(\"{A-Za-z_:= ]{0,20}?(1\d{9})(?:\d{3}(?:\d{3})?)?(?!\d)")),
    Stamp("clock", re.compile(r"\[?(\d{2}):(\d{2}):\d{2}(?:[.,]\d+)?\b")),
)


def stamp_of(lines: Sequence[str]) -> Stamp | None:
    """The way in which most of some lines write their times; None where fewer than a quarter of them do."""
    held = [line for line in lines if line.strip()]
    best = max(STAMPS, key=lambda stamp: sum(stamp.minute(line) is not None for line in held))
    count = sum(best.minute(line) is not None for line in held)
    return best if count and count * 4 >= len(held) else None


def level_of(line: str) -> str | None:
    """How grave an entry says it is; the class of the status in the log of a web server."""
    found = _LEVEL.search(line, 0, 300)
    if found and found.lastindex:
        return LEVELS[(found.lastindex - 1) % 5]
    status = _STATUS.search(line, 0, 2000)
    return f"{status[1]}xx" if status and status[1] in "45" else None


def told(levels: Iterable[tuple[str, int]]) -> str:
    """Counts of levels in words, the gravest first."""
    order = [*LEVELS, "5xx", "4xx"]
    counts = Counter(dict(levels))
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])
