"""Outlines logs by day, hour, and minute, with the number of entries of each severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby

from attrs import define, field, frozen

from citekit.adapters.formats.data.log_times import TimestampFormat, describe_levels, detect_timestamp_format, level_of
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, one_line
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_SAMPLE = 200
_LINE = 400
"""The maximum number of bytes of a line that are read."""

_UNITS = (1440, 60, 1)
"""The minutes in a day, an hour, and a minute."""

_MANY = 300
"""A day with more entries is split into hours, and an hour with more entries into minutes."""

_MOST = 3_000
"""If a log has entries in more hours (or minutes), only its busy periods are split into them."""

_BUSY = 50
"""A period is busy if it has more than 1/50 of the entries of the log, and more than `_MANY`."""

_BACK = 1440
"""The minutes in a day. If time goes back by more, a new period begins. Smaller steps back are entries out of order."""

_MINUTES = 100_000
"""The maximum number of periods before a log is counted by the hour instead of by the minute, and then by the day."""

_FIRST = 120
_TOP = 60
_YEARS = (1, 4)
"""The years for timestamps without a date (1) and for dates without a year (4)."""


@define
class MinuteCount:
    """The log entries of a period, normally one minute.

    `when` is the time in minutes as `TimestampFormat.minute` counts them, `line` the line of the first entry (1 for the
    first period), and `first` the beginning of the first entry.
    """

    when: int
    line: int
    count: int = 0
    levels: Counter[str] = field(factory=Counter)
    first: str = ""


@frozen
class LogOutliner:
    """Outlines log files by time. `fallback` outlines files without timestamps."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are days, hours, and minutes."""
        text = open_text(source.path, progress)
        stamp = (
            detect_timestamp_format(next(text.passages([(1, min(_SAMPLE, text.line_count))]), []))
            if text.line_count
            else None
        )
        minutes = read_minutes(text.lines(progress, _LINE), stamp) if stamp else []
        if not minutes:
            return self.fallback.outline(source, progress)
        total: Counter[str] = Counter()
        for minute in minutes:
            total.update(minute.levels)
        return Outline(
            title=None,
            extent=text.extent,
            items=_items(minutes, text),
            facts={
                **text.facts,
                "entry_count": sum(each.count for each in minutes),
                "levels": dict(sorted(total.items())),
            },
        )


def read_minutes(lines: Iterable[str], stamp: TimestampFormat) -> list[MinuteCount]:
    """Count the entries of each minute, or of longer periods if the log covers too many minutes.

    A line without a timestamp belongs to the entry above it.
    """
    minutes: list[MinuteCount] = []
    now: MinuteCount | None = None
    grain = 1
    for number, line in enumerate(lines, 1):
        when = stamp.minute(line)
        if when is None:
            continue
        when -= when % grain
        if now is None or when > now.when or when < now.when - _BACK:
            if len(minutes) >= _MINUTES and grain < _BACK:
                grain = 60 if grain == 1 else _BACK
                minutes, when = _merged(minutes, grain), when - when % grain
            now = MinuteCount(when, number if minutes else 1, first=line[:_FIRST])
            minutes.append(now)
        now.count += 1
        level = level_of(line)
        if level:
            now.levels[level] += 1
    return minutes


def _merged(minutes: Sequence[MinuteCount], grain: int) -> list[MinuteCount]:
    """Merge the counts of shorter periods into counts of periods of `grain` minutes."""
    merged: list[MinuteCount] = []
    for when, group in groupby(minutes, lambda minute: minute.when - minute.when % grain):
        parts = list(group)
        levels = sum((part.levels for part in parts), Counter[str]())
        merged.append(MinuteCount(when, parts[0].line, sum(part.count for part in parts), levels, parts[0].first))
    return merged


def _items(minutes: Sequence[MinuteCount], text: TextFile) -> tuple[OutlineItem, ...]:
    """Return an outline item for each day, each hour of a single day, or each minute of a single hour."""
    numbers = {unit: len({minute.when // unit for minute in minutes}) for unit in _UNITS}
    unit = next((unit for unit in _UNITS if numbers[unit] > 1), 1)
    enough = sum(minute.count for minute in minutes) // _BUSY
    many = {finer: _MANY if numbers[finer] <= _MOST else max(_MANY, enough) for finer in _UNITS}
    return tuple(_periods(minutes, text.line_count, unit, many))


def _periods(minutes: Sequence[MinuteCount], last: int, unit: int, many: dict[int, int]) -> Iterator[OutlineItem]:
    groups = [list(group) for _, group in groupby(minutes, lambda minute: minute.when // unit)]
    if len(groups) > _TOP * 4:
        groups = _merge_groups(groups)
    for group, after in zip(groups, [*(each[0].line for each in groups[1:]), last + 1], strict=True):
        count = sum(minute.count for minute in group)
        below = _below(group, after - 1, unit, count, many)
        yield OutlineItem(
            _title(group, unit), "time", Lines(group[0].line, max(group[0].line, after - 1)), _summary(group), below
        )


def _below(
    group: Sequence[MinuteCount], last: int, unit: int, count: int, many: dict[int, int]
) -> tuple[OutlineItem, ...]:
    for finer in _UNITS:
        if finer < unit and count > many[finer] and len({minute.when // finer for minute in group}) > 1:
            return tuple(_periods(group, last, finer, many))
    return ()


def _merge_groups(groups: list[list[MinuteCount]]) -> list[list[MinuteCount]]:
    """Merge adjacent groups so that at most 4 * `_TOP` groups remain."""
    size = -(-len(groups) // (_TOP * 4))
    return [[minute for each in groups[n : n + size] for minute in each] for n in range(0, len(groups), size)]


def _summary(group: Sequence[MinuteCount]) -> str:
    levels: Counter[str] = Counter()
    for minute in group:
        levels.update(minute.levels)
    count = sum(minute.count for minute in group)
    counted = describe_levels(levels.items())
    return f"{count} entr{'y' if count == 1 else 'ies'}{f' ({counted})' if counted else ''}: {one_line(group[0].first, 120)}"


def _title(group: Sequence[MinuteCount], unit: int) -> str:
    first, last = group[0].when, group[-1].when
    if first // unit == last // unit:
        return _name(first, unit)
    return f"{_name(first, unit)} - {_name(last, unit)}"


def _name(when: int, unit: int) -> str:
    day = date.fromordinal(when // 1440)
    day_text = "" if day.year == 1 else f"{day:%m-%d}" if day.year in _YEARS else day.isoformat()
    clock = "" if unit == 1440 else f"{when // 60 % 24:02}:00" if unit == 60 else f"{when // 60 % 24:02}:{when % 60:02}"
    return f"{day_text} {clock}".strip() or "Day"
