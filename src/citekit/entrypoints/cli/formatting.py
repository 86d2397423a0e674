"""Formats sizes, durations, and locations as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.domain.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citekit.domain.locations import Box, Location

_SIZES = ("kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """Return a size in bytes as text, with units that are powers of 1000, as in the option `--limit`.

    Example:
        >>> size(1), size(999), size(12_345), size(10_000_000_000)
        ('1 byte', '999 bytes', '12.3 kB', '10 GB')
    """
    if count < 1000:
        return counted(count, "byte")
    value = float(count)
    for unit in _SIZES:
        value /= 1000
        if round(value, 1) < 1000 or unit == _SIZES[-1]:
            break
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def lasted(seconds: float) -> str:
    """Return a duration in seconds as text.

    Example:
        >>> lasted(0.0004), lasted(0.0123), lasted(2.34), lasted(125)
        ('less than 1 ms', '12 ms', '2.3 s', '2 min 5 s')
    """
    if seconds < 0.001:
        return "less than 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def place(location: Location) -> str:
    """Return a location as short text, such as `pp. 12-15`, `2:25-3:20`, or `ch. 7, chars 120-980`."""
    from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual

    match location:
        case Pages(region=region):
            return _ranges("p.", "pp.", list(location.runs)) + (f", {_box(region)}" if region else "")
        case Lines(first=first, last=last):
            return _ranges("line", "lines", [(first, last)])
        case TimeSpan(start=start, end=end):
            return f"from {clock(start)}" if end is None else f"{clock(start)}-{clock(end)}"
        case Box():
            return _box(location)
        case Chapter(number=number, last=last, chars=chars):
            return _ranges("ch.", "ch.", [(number, last)]) + (f", chars {chars[0]}-{chars[1]}" if chars else "")
        case Cells(sheet=sheet, range=cells):
            return f"{sheet}, {cells}" if cells else sheet
        case Virtual(virtual_address=address):
            return address


def clock(seconds: float) -> str:
    """Return a time in seconds as text such as `2:25`, `2:25.5`, or `1:02:25`."""
    from citekit.domain.numbers import shortest

    text = shortest(seconds)
    whole, point, fraction = text.partition(".")
    minutes, rest = divmod(int(whole), 60)
    hours, minutes = divmod(minutes, 60)
    start = f"{hours}:{minutes:02}" if hours else f"{minutes}"
    return f"{start}:{rest:02}{point}{fraction[:3]}"


def _ranges(one: str, many: str, runs: Sequence[tuple[int, int]]) -> str:
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{one if single else many} {text}"


def _box(box: Box) -> str:
    x1, y1, x2, y2 = (f"{value * 100:.0f}" for value in box.corners)
    return f"{x1}-{x2}% across, {y1}-{y2}% down"
