"""Reads the timestamps and severities of log lines."""

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
    """A timestamp format. `pattern` matches a timestamp near the beginning of a line; for its groups, see `_minute`."""

    name: str
    pattern: re.Pattern[str]

    def minute(self, line: str) -> int | None:
        """Return the time of a line in minutes, or None if the line has no valid timestamp.

        Minute 1440 is the beginning of January 1 of the year 1. A missing year is 4.
        """
        found = self.pattern.match(line)
        if found is None:
            return None
        try:
            return _minute(found.groupdict())
        except (ValueError, OverflowError, KeyError):
            return None


def _minute(groups: dict[str, str | None]) -> int:
    """Convert the named groups of a matched timestamp to minutes. See `TimestampFormat.minute`.

    The groups are `y`, `mo` (a number or a name), `d`, `h`, `mi`, and `half` (AM or PM); or only `h` and `mi`; or only
    `epoch` (seconds since 1970).
    """
    if groups.get("epoch"):
        when = datetime.fromtimestamp(int(groups["epoch"] or 0), UTC)
        return _minutes(when.year, when.month, when.day, when.hour, when.minute)
    month = groups.get("mo")
    if month is None:
        return _minutes(1, 1, 1, int(groups["h"] or 0), int(groups["mi"] or 0))
    hour, half, year = int(groups["h"] or 0), groups.get("half"), groups.get("y") or _NO_YEAR
    if half:
        hour = hour % 12 + 12 * half.lower().startswith("p")
    number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
    return _minutes(int(year) + 2000 * (len(year) == 2), number, int(groups["d"] or 0), hour, int(groups["mi"] or 0))


def _minutes(year: int, month: int, day: int, hour: int, minute: int) -> int:
    if hour > 23 or minute > 59:
        raise ValueError(f"{hour}:{minute} is not a time of day.")
    return datetime(year, month, day).toordinal() * 1440 + hour * 60 + minute


_NO_YEAR = "4"
"""Replaces a missing year. It is a leap year, so that February 29 is valid."""

_BEFORE = r"(?:[^\d]{0,40}?|<\d{1,3}>\d?\s*)"
_TIME, _LOOSE = (
    r"(?P<h>\d{2}):(?P<mi>\d{2}):\d{2}",
    r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::\d{2})?(?:[ \u202f]?(?P<half>[AaPp])\.?[Mm])?",
)
_NAME = r"(?P<mo>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"


def _format(name: str, pattern: str) -> TimestampFormat:
    return TimestampFormat(name, re.compile(pattern))


TIMESTAMP_FORMATS = (
    _format(
        "iso",
        _BEFORE
        + r"(?P<y>\d{4})[-/.](?P<mo>\d{2})[-/.](?P<d>\d{2})(?:[T_:]| {1,2})(?P<h>\d{1,2}):(?P<mi>\d{2})(?::\d{2})?",
    ),
    _format(
        "iso", _BEFORE + r"(?P<y>\d{4})(?P<mo>\d{2})(?P<d>\d{2})[T _-]?(?P<h>\d{2}):?(?P<mi>\d{2})(?::?\d{2})?(?!\d)"
    ),
    _format("clf", rf".{{0,300}}?\[(?P<d>\d{{1,2}})/{_NAME}/(?P<y>\d{{4}}):{_TIME}"),
    _format("ctime", rf".{{0,20}}?{_NAME}\s+(?P<d>\d{{1,2}}) {_TIME}(?:\.\d+)? (?:[A-Z]{{2,5}} )?(?P<y>\d{{4}})\b"),
    _format("syslog", rf"(?:<\d{{1,3}}>)?{_NAME}\s+(?P<d>\d{{1,2}}) {_TIME}\b"),
    _format(
        "day, month", rf".{{0,30}}?\b(?P<d>\d{{1,2}})[ /-]{_NAME}[a-z]{{0,6}}[ /-](?P<y>\d{{4}})[ ,:T]{{1,2}}{_LOOSE}"
    ),
    _format("month, day", rf".{{0,30}}?\b{_NAME}[a-z]{{0,6}} (?P<d>\d{{1,2}}), (?P<y>\d{{4}}),?(?: at)? {_LOOSE}"),
    _format("year, month", rf"{_BEFORE}(?P<y>\d{{4}})-{_NAME}-(?P<d>\d{{1,2}})[ T]{_LOOSE}"),
    _format("us", rf"{_BEFORE}(?P<mo>\d{{1,2}})[/-](?P<d>\d{{1,2}})[/-](?P<y>\d{{4}}),? {_LOOSE}"),
    _format("day first", rf"{_BEFORE}(?P<d>\d{{1,2}})[./-](?P<mo>\d{{1,2}})[./-](?P<y>\d{{4}}),? {{1,2}}{_LOOSE}"),
    _format("short year", rf"{_BEFORE}(?P<y>\d{{2}})[/-](?P<mo>\d{{2}})[/-](?P<d>\d{{2}}) {_TIME}"),
    _format("short year", r"(?P<y>\d{2})(?P<mo>\d{2})(?P<d>\d{2}) {1,2}(?P<h>\d{1,2}):?(?P<mi>\d{2}):?\d{2}\b"),
    _format("no year", rf"\[?(?P<mo>\d{{2}})[-./](?P<d>\d{{2}}) {_TIME}\b"),
    _format("no year", rf"[IWEFD](?P<mo>\d{{2}})(?P<d>\d{{2}}) {_TIME}\.\d"),
    _format("no year", rf".{{0,20}}?\b(?P<d>\d{{1,2}}) {_NAME} {_TIME}\b"),
    _format("epoch", r"[-\[(\"{A-Za-z_:=, ]{0,40}?(?P<epoch>1\d{9})(?:\d{3}(?:\d{3})?)?(?!\d)"),
    _format("clock", rf"\[?{_TIME}(?:[.,]\d+)?\b"),
    _format("iso", rf".{{0,60}}?(?<!\d)(?P<y>\d{{4}})-(?P<mo>\d{{2}})-(?P<d>\d{{2}})[T ]{_TIME}"),
)


def detect_timestamp_format(lines: Sequence[str]) -> TimestampFormat | None:
    """Return the timestamp format that matches the most lines, and at least a quarter of those that are not blank, or
    None.
    """
    nonblank = [line for line in lines if line.strip()]
    best = max(TIMESTAMP_FORMATS, key=lambda format_: sum(format_.minute(line) is not None for line in nonblank))
    count = sum(best.minute(line) is not None for line in nonblank)
    return best if count and count * 4 >= len(nonblank) else None


def level_of(line: str) -> str | None:
    """Return the severity of a log line, which is one of `LEVELS`.

    Without a severity, return the class of the error status in a web server's log (`4xx` or `5xx`), or None.
    """
    found = _LEVEL.search(line, 0, 300)
    if found and found.lastindex:
        return LEVELS[(found.lastindex - 1) % 5]
    status = _STATUS.search(line, 0, 2000)
    return f"{status[1]}xx" if status and status[1] in "45" else None


def describe_levels(levels: Iterable[tuple[str, int]]) -> str:
    """Return the number of entries of each severity as text, such as "2 error, 5 info, 1 4xx", the most severe first."""
    order = [*LEVELS, "5xx", "4xx"]
    counts = Counter(dict(levels))
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])
