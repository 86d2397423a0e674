"""Outlines calendars (iCalendar, RFC 5545) by event, and extracts some of their events as a calendar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import define, field, frozen

from citekit.adapters.formats.data.groups import gathered
from citekit.adapters.formats.shared.line_parts import LinePart, source_bytes
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, one_line
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_TYPES = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "entry", "VFREEBUSY": "busy"}
_LINE = re.compile(
    r"([A-Za-z0-9-]{1,60})((?:;[^:;=]{1,60}+=(?:\"[^\"]{0,500}+\"|[^\":;]{1,500}+){0,20}+){0,20}+):(.*)", re.DOTALL
)
_BEGIN = re.compile(r"\ufeff?BEGIN:VCALENDAR\s*\Z", re.IGNORECASE)
_ZONE = re.compile(r";TZID=\"?([^\":;]{1,200})", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?\Z")
_ESCAPE = re.compile(r"\\([\\;,nN])")
_REPEATED = re.compile(r"(?:\A|;)FREQ=([A-Z]{1,10})", re.IGNORECASE)
_SHOWN = frozenset(
    ("SUMMARY", "DESCRIPTION", "LOCATION", "COMMENT", "CONTACT", "CATEGORIES", "X-WR-CALNAME", "X-WR-CALDESC")
)
_VALUES_LIMIT = 60


@define
class Component:
    """A component of a calendar, such as an event.

    `calendar` is the index of its calendar object, `values` has the text of its properties, and `zones` the names of
    its time zones.
    """

    name: str
    lines: Lines
    calendar: int
    values: dict[str, str] = field(factory=dict)
    zones: set[str] = field(factory=set)

    @property
    def title(self) -> str:
        """The date and the summary."""
        day = _shown_time(self.values.get("DTSTART") or self.values.get("DUE") or "")[0]
        return " ".join(filter(None, (day, self.values.get("SUMMARY") or "(no title)")))

    @property
    def description(self) -> str:
        """The time, the frequency, the place, and the description of the component."""
        day, start = _shown_time(self.values.get("DTSTART", ""))
        last, end = _shown_time(self.values.get("DTEND", ""))
        until = " ".join(filter(None, (last if last != day else "", end)))
        when = " - ".join(filter(None, (" ".join(filter(None, (day, start))), until)))
        zone = "" if not start or start.endswith("UTC") else " ".join(sorted(self.zones)[:1])
        repeated = _REPEATED.search(self.values.get("RRULE", ""))
        where = self.values.get("LOCATION", "")
        parts = (f"{when} {zone}".strip(), repeated and f"repeats {repeated[1].lower()}", where)
        return ": ".join(filter(None, (", ".join(filter(None, parts)), self.values.get("DESCRIPTION", ""))))


@frozen
class CalendarOutliner:
    """Outlines calendars. `fallback` outlines files that are very long or contain no events or similar components."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are events, tasks, journal entries, and busy times."""
        text = open_text(source.path, progress)
        found, name = read_components(() if text.is_long else text.lines(progress))
        events = [each for each in found if each.name in _TYPES]
        if not events:
            return self.fallback.outline(source, progress)
        items = [OutlineItem(each.title, _TYPES[each.name], each.lines, each.description) for each in events]
        days = sorted(filter(None, (_shown_time(each.values.get("DTSTART", ""))[0] for each in events)))
        facts = {**text.facts, "event_count": len(events)}
        facts |= {"first_day": days[0], "last_day": days[-1]} if days else {}
        return Outline(title=name or None, extent=text.extent, items=gathered(items, "events"), facts=facts)


def read_components(lines: Iterable[str]) -> tuple[list[Component], str]:
    """Return the components of the calendars, such as events and time zones, and the first name of a calendar or "".

    Components inside others, such as alarms, are left out.
    """
    found: list[Component] = []
    stack: list[str] = []
    calendar, name, first = -1, "", 0
    values: dict[str, str] = {}
    zones: set[str] = set()
    for start, end, line in unfolded(lines):
        match = _LINE.match(line)
        if match is None:
            continue
        key, parameters, value = match[1].upper(), match[2], match[3].strip()
        if key == "BEGIN":
            stack.append(value.upper())
            calendar += len(stack) == 1
            if len(stack) == 2:
                first, values, zones = start, {}, set()
        elif key == "END" and stack:
            if len(stack) == 2 and stack[-1] == value.upper():
                found.append(Component(stack[-1], Lines(first, end), calendar, values, zones))
            stack.pop()
        elif len(stack) == 2 and len(values) < _VALUES_LIMIT:
            values.setdefault(key, plain_value(value))
            zones.update(_ZONE.findall(parameters))
        elif len(stack) == 1 and key in ("X-WR-CALNAME", "NAME"):
            name = name or plain_value(value)
    return found, name


def unfolded(lines: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line (1-based) and the joined text of each content line (RFC 5545, 3.1)."""
    first, held, number = 1, [""], 0
    for number, line in enumerate(lines, 1):
        if line[:1] in (" ", "\t") and number > 1:
            held.append(line[1:])
            continue
        if number > 1:
            yield first, number - 1, "".join(held)
        first, held = number, [line.lstrip("\ufeff")]
    if number:
        yield first, number, "".join(held)


def plain_value(value: str) -> str:
    """Return the text of a value on one line, with its escapes (RFC 5545, 3.3.11) resolved."""
    text = _ESCAPE.sub(lambda match: " " if match[1] in "nN" else match[1], value)
    return " ".join(text.split())


def calendar_visible_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield one text for each line: the value of a property that readers see (such as a title), or else the whole
    property.

    Continuation lines are empty.
    """
    for first, last, line in unfolded(lines):
        match = _LINE.match(line)
        yield plain_value(match[3]) if match and match[1].upper() in _SHOWN else line
        yield from [""] * (last - first)


def calendar_part(path: Path, lines: Lines) -> LinePart | None:
    """Return a calendar with the events on these lines and their time zones. See `PartOf`."""
    source = source_bytes(path, lines)
    found, _ = read_components(source.text.lines()) if source else ([], "")
    chosen = [each for each in found if each.name != "VTIMEZONE" and each.lines.overlaps(lines)]
    if source is None or not chosen or source.text.encoding.startswith(("utf-16", "utf-32")):
        return None  # the copied lines would not be UTF-8, as iCalendar requires
    own = [each for each in found if each.calendar == chosen[0].calendar]
    head = next(source.text.passages([(1, own[0].lines.first - 1)]), [])
    begin = max((number for number, line in enumerate(head, 1) if _BEGIN.match(line)), default=1)
    named = set[str]().union(*(each.zones for each in chosen))
    zones = [each for each in found if each.name == "VTIMEZONE" and each.values.get("TZID") in named]
    kept = [Lines(begin, own[0].lines.first - 1), *(each.lines for each in (*zones, *chosen))]
    data = b"".join(_ended(source.lines(each.first, each.last)) for each in kept)
    extent = Lines(chosen[0].lines.first, chosen[-1].lines.last)
    notes = (
        ()
        if lines.contains(extent)
        else (f"Calendar entries are extracted whole: lines {extent.first}-{extent.last}.",)
    )
    return LinePart(data + b"END:VCALENDAR\r\n", extent, notes)


def _ended(data: bytes) -> bytes:
    return data if data.endswith(b"\n") else data + b"\r\n"


def _shown_time(value: str) -> tuple[str, str]:
    """Return the day and the time of day of a value such as `20240506T100000Z`, or "" for each that is missing."""
    match = _TIME.match(value)
    if match is None:
        return "", ""
    year, month, day, hour, minute, is_utc = match.groups()
    clock = f"{hour}:{minute}{' UTC' if is_utc else ''}" if hour else ""
    return one_line(f"{year}-{month}-{day}", 10), clock
