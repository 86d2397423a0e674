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
class TimestampFormat:
    """A way to write times: `pattern` finds one near the beginning of a line, by the groups that `_minute` reads."""

    name: str
    pattern: re.Pattern[str]

    def minute(self, line: str) -> int | None:
        """Minutes since the year 1 (or since an unknown year's begin), None for a line without a time."""
        found = self.pattern.match(line)
        if found is None:
            return None
        try:
            return _minute(found.groupdict())
        except (ValueError, OverflowError, KeyError):
            return None


def _minute(said: dict[str, str | None]) -> int:
    """The minute that the groups `y`, `mo` (number or name), `d`, `h`, `mi`, `half` say, or `epoch`, seconds since 1970."""
    if said.get("epoch"):
        when = datetime.fromtimestamp(int(said["epoch"] or 0), UTC)
        return _minutes(when.year, when.month, when.day, when.hour, when.minute)
    month = said.get("mo")
    if month is None:
        return _minutes(1, 1, 1, int(said["h"] or 0), int(said["mi"] or 0))
    hour, half, year = int(said["h"] or 0), said.get("half"), said.get("y") or _NO_YEAR
    if half:
        hour = hour % 12 + 12 * half.lower().startswith("p")
    number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
    return _minutes(int(year) + 2000 * (len(year) == 2), number, int(said["d"] or 0), hour, int(said["mi"] or 0))


def _minutes(year: int, month: int, day: int, hour: int, minute: int) -> int:
    if hour > 23 or minute > 59:
        raise ValueError("no such time of day")
    return datetime(year, month, day).toordinal() * 1440 + hour * 60 + minute


_NO_YEAR = "4"
"""Stands for the year where a log says none: one with a 29th of February."""

_BEFORE = r"(?:[^\d]{0,40}?|<\d{1,3}>\d?\s*)"
_TIME, _LOOSE = (
    r"(?P<h>\d{2}):(?P<mi>\d{2}):\d{2}",
    r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::\d{2})?(?:[ \u202f]?(?P<half>[AaPp])\.?[Mm])?",
)
_NAME = r"(?P<mo>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"


def _stamp(name: str, pattern: str) -> TimestampFormat:
    return TimestampFormat(name, re.compile(pattern))


STAMPS = (
    _stamp(
        "iso",
        _BEFORE
        + r"(?P<y>\d{4})[-/.](?P<mo>\d{2})[-/.](?P<d>\d{2})(?:[T_:]| {1,2})(?P<h>\d{1,2}):(?P<mi>\d{2})(?::\d{2})?",
    ),
    _stamp(
        "iso", _BEFORE + r"(?P<y>\d{4})(?P<mo>\d{2})(?P<d>\d{2})[T _-]?(?P<h>\d{2}):?(?P<mi>\d{2})(?::?\d{2})?(?!\d)"
    ),
    _stamp("clf", rf".{{0,300}}?\[(?P<d>\d{{1,2}})/{_NAME}/(?P<y>\d{{4}}):{_TIME}"),
    _stamp("ctime", rf".{{0,20}}?{_NAME}\s+(?P<d>\d{{1,2}}) {_TIME}(?:\.\d+)? (?:[A-Z]{{2,5}} )?(?P<y>\d{{4}})\b"),
    _stamp("syslog", rf"(?:<\d{{1,3}}>)?{_NAME}\s+(?P<d>\d{{1,2}}) {_TIME}\b"),
    _stamp(
        "day, month", rf".{{0,30}}?\b(?P<d>\d{{1,2}})[ /-]{_NAME}[a-z]{{0,6}}[ /-](?P<y>\d{{4}})[ ,:T]{{1,2}}{_LOOSE}"
    ),
    _stamp("month, day", rf".{{0,30}}?\b{_NAME}[a-z]{{0,6}} (?P<d>\d{{1,2}}), (?P<y>\d{{4}}),?(?: at)? {_LOOSE}"),
    _stamp("year, month", rf"{_BEFORE}(?P<y>\d{{4}})-{_NAME}-(?P<d>\d{{1,2}})[ T]{_LOOSE}"),
    _stamp("us", rf"{_BEFORE}(?P<mo>\d{{1,2}})[/-](?P<d>\d{{1,2}})[/-](?P<y>\d{{4}}),? {_LOOSE}"),
    _stamp("day first", rf"{_BEFORE}(?P<d>\d{{1,2}})[./-](?P<mo>\d{{1,2}})[./-](?P<y>\d{{4}}),? {{1,2}}{_LOOSE}"),
    _stamp("short year", rf"{_BEFORE}(?P<y>\d{{2}})[/-](?P<mo>\d{{2}})[/-](?P<d>\d{{2}}) {_TIME}"),
    _stamp("short year", r"(?P<y>\d{2})(?P<mo>\d{2})(?P<d>\d{2}) {1,2}(?P<h>\d{1,2}):?(?P<mi>\d{2}):?\d{2}\b"),
    _stamp("no year", rf"\[?(?P<mo>\d{{2}})[-./](?P<d>\d{{2}}) {_TIME}\b"),
    _stamp("no year", rf"[IWEFD](?P<mo>\d{{2}})(?P<d>\d{{2}}) {_TIME}\.\d"),
    _stamp("no year", rf".{{0,20}}?\b(?P<d>\d{{1,2}}) {_NAME} {_TIME}\b"),
    _stamp("epoch", r"[-\[(\"{A-Za-z_:=, ]{0,40}?(?P<epoch>1\d{9})(?:\d{3}(?:\d{3})?)?(?!\d)"),
    _stamp("clock", rf"\[?{_TIME}(?:[.,]\d+)?\b"),
    _stamp("iso", rf".{{0,60}}?(?<!\d)(?P<y>\d{{4}})-(?P<mo>\d{{2}})-(?P<d>\d{{2}})[T ]{_TIME}"),
)


def detect_timestamp_format(lines: Sequence[str]) -> TimestampFormat | None:
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


def describe_levels(levels: Iterable[tuple[str, int]]) -> str:
    """Counts of levels in words, the gravest first."""
    order = [*LEVELS, "5xx", "4xx"]
    counts = Counter(dict(levels))
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])
