"""Outlines chats that WhatsApp exported as text, by day and by the person who writes.

A message begins with a date, a time, and a name, in a format that depends on the language and the system of the phone:
`[01/12/2024, 10:05:23 AM] Anna: Hello`, `01.12.24, 10:05 - Anna: Hello`. Other lines continue it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from itertools import groupby, pairwise
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, one_line
from citekit.adapters.formats.shared.text_file import LINE_LIMIT, open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

TURNS_LIMIT = 10_000
"""The maximum number of turns (consecutive messages of one person). In a longer chat, the days have no children."""

_DAYS = 62
"""The maximum number of days of a chat that is not divided into months."""

_PEOPLE = 100
_HEAD = 16_384
_TITLE_LIMIT = 70
_MESSAGE = re.compile(
    r"[\ufeff\u200e\u200f]*\[?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})\.?,?\s(?:klo\s)?"
    r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?(?:\]|\s[-–]|:)\s+(.*)",
    re.DOTALL,
)
_NAMED = re.compile(r"[\u200e\u200f~\s]*([^:]{1,60}):(?:\s|\Z)(.*)", re.DOTALL)
_SEVERITY = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
_ORDERS = ("day, month, year", "month, day, year", "year, month, day")


@frozen
class Message:
    """A message: its 1-based line number, the numbers in its date, the name of its writer, and its first line of text.

    The writer is "" if the chat app wrote it, such as a notice that a person joined.
    """

    line: int
    numbers: tuple[str, str, str]
    name: str
    text: str


@frozen
class ChatOutliner:
    """Outlines exported chats. `fallback` outlines other texts."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are days with the turns of each person. Many days are grouped by month.

        A text that is not a chat, has no valid dates, or has more than `text_file.LINES_LIMIT` lines is outlined by
        `fallback`.
        """
        if not is_chat(source.path):
            return self.fallback.outline(source, progress)
        text = open_text(source.path, progress)
        messages = read_messages(() if text.is_long else text.lines(progress))
        order, days = _days_of(messages)
        if not days:
            return self.fallback.outline(source, progress)
        people = Counter(each.name for each in messages if each.name).most_common(_PEOPLE)
        turns = sum(1 for _ in groupby(messages, lambda each: each.name))
        items = tuple(_days(messages, days, text.line_count, with_turns=turns <= TURNS_LIMIT))
        names = ", ".join(name for name, _ in people[:5])
        return Outline(
            title=f"Chat of {names}" if source.path.stem.lower() == "_chat" and names else None,
            extent=text.extent,
            items=_months(items) if len(items) > _DAYS else items,
            facts={**text.facts, "message_count": len(messages), "people": dict(people)},
            notes=[f"The dates are read as {order}."],
        )


def is_chat(path: Path) -> bool:
    """Return whether the beginning of a text looks like an exported chat; False if the file cannot be read."""
    with suppress(OSError), path.open("rb") as stream:
        head = stream.read(_HEAD)
        lines = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace").splitlines()
        shown = [line for line in lines[:200] if line.strip()]
        found = read_messages(shown)
        named = [each.name for each in found if each.name]
        severe = sum(bool(_SEVERITY.search(name)) for name in named)
        return len(named) > 1 and found[0].line == 1 and len(found) * 4 >= len(shown) and severe * 4 < len(named)
    return False


def read_messages(lines: Iterable[str]) -> list[Message]:
    """Return the messages in the order of the file."""
    found = []
    for number, line in enumerate(lines, 1):
        match = _MESSAGE.match(line)
        if match:
            named = _NAMED.match(match[5])
            name = " ".join(named[1].split()).strip("\u200e\u200f\u202a\u202c") if named else ""
            found.append(Message(number, (match[1], match[3], match[4]), name, named[2] if named else match[5]))
    return found


def _days_of(messages: Sequence[Message]) -> tuple[str, list[date]]:
    """Return the order of the numbers in the dates, such as "day, month, year", and the date of each message.

    Of the orders in which all dates are valid, choose the one in which the date goes back least often, and among
    equals, the one in which consecutive dates are closest. Return no dates if no order is valid.
    """
    best: tuple[tuple[int, int], str, list[date]] | None = None
    for order in _ORDERS:
        with suppress(ValueError):
            days = [_day(each.numbers, order) for each in messages]
            steps = [(after - before).days for before, after in pairwise(days)]
            cost = (sum(step < 0 for step in steps), sum(map(abs, steps)))
            if best is None or cost < best[0]:
                best = cost, order, days
    return (best[1], best[2]) if best else ("", [])


def _day(numbers: tuple[str, str, str], order: str) -> date:
    values = dict(zip(order.split(", "), numbers, strict=True))
    if len(values["year"]) not in (2, 4) or max(len(values["day"]), len(values["month"])) > 2:
        raise ValueError(f"{'/'.join(numbers)} is not a date in the order {order}.")
    return date(int(values["year"]) + 2000 * (len(values["year"]) == 2), int(values["month"]), int(values["day"]))


def _days(messages: Sequence[Message], days: Sequence[date], last: int, *, with_turns: bool) -> Iterator[OutlineItem]:
    numbered = list(zip(days, messages, strict=True))
    groups = [(day, [each for _, each in group]) for day, group in groupby(numbered, key=lambda pair: pair[0])]
    ends = [*(group[0].line - 1 for _, group in groups[1:]), last]
    for (day, group), end in zip(groups, ends, strict=True):
        people = Counter(each.name for each in group if each.name)
        count = f"{len(group)} message{'s' if len(group) > 1 else ''}"
        names = ", ".join(name for name, _ in people.most_common(5))
        start = 1 if group[0] is messages[0] else group[0].line
        turns = tuple(_turns(group, end)) if with_turns else ()
        yield OutlineItem(day.isoformat(), "day", Lines(start, end), f"{count}: {names}" if names else count, turns)


def _turns(group: Sequence[Message], last: int) -> Iterator[OutlineItem]:
    turns = [(name, list(each)) for name, each in groupby(group, key=lambda message: message.name)]
    ends = [*(each[0].line - 1 for _, each in turns[1:]), last]
    for (name, messages), end in zip(turns, ends, strict=True):
        if name:
            said = f"{name}: {' '.join(filter(None, (each.text[:LINE_LIMIT] for each in messages[:10])))}"
            yield OutlineItem(one_line(said, _TITLE_LIMIT), "turn", Lines(messages[0].line, end), said)


def _months(days: Sequence[OutlineItem]) -> tuple[OutlineItem, ...]:
    months = []
    for month, group in groupby(days, key=lambda item: item.title[:7]):
        below = list(group)
        first, last = below[0].location, below[-1].location
        if isinstance(first, Lines) and isinstance(last, Lines):
            count = f"{len(below)} day{'s' if len(below) > 1 else ''}"
            months.append(OutlineItem(month, "month", Lines(first.first, last.last), count, below))
    return tuple(months)
