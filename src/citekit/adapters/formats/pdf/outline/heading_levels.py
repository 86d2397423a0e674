"""The levels of headings that no table of contents tells: by their numbers, else by their type."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from citekit.adapters.formats.pdf.outline.heading_numbers import parts_of, rank_of
from citekit.adapters.formats.pdf.outline.headings import Heading
from citekit.adapters.formats.pdf.outline.lines import is_bold_name

DEPTH = 6

NUMBERED = 0.25
"""The part of the headings of one look that are numbered, from which on their numbers tell its level."""

FEW = 0.2
"""The part of the headings of one type up to which those in capitals are no level of their own."""

Look = tuple[float, bool, bool, bool]
"""Size, bold, capitals, italic: what a reader sees of a style; fonts of one look are one level, such as code in a title."""


def levels_of(found: Sequence[Heading]) -> list[int]:
    """The depth of its number, where a heading has one; else that of its look, larger ones above smaller ones.

    A number tells nothing where most headings of its look have none (`2 or more`). One without a number between two
    with numbers of the same depth would break their count: it is below them.
    """
    looks = _settled(found, [look_of(heading) for heading in found])
    depths = {look: _usual_depth(found, looks, look) for look in set(looks)}
    levels = _ranked(_ordered(looks), depths)
    raw = [_level(heading, levels[look], depths[look]) for heading, look in zip(found, looks, strict=True)]
    raw = _below_numbers(found, looks, depths, raw)
    least = min(raw)
    return [level - least + 1 for level in raw]


def look_of(heading: Heading) -> Look:
    """How the first of its largest lines looks."""
    font, size, bold, capitals = heading.style
    first = max(heading.lines, key=lambda line: (line.size, -line.top))
    return size, bold or is_bold_name(font), capitals, first.italic


def _settled(found: Sequence[Heading], looks: Sequence[Look]) -> list[Look]:
    """The looks, capitals taken for none where few beside many of the same type have them, as names (`LVM2`) do.

    Not where these have numbers of another depth: they are chapters then.
    """
    times = Counter(looks)
    few: dict[Look, Look] = {}
    for look in times:
        other = (look[0], look[1], False, look[3])
        if look[2] and times[look] < FEW * times[other]:
            depth = _usual_depth(found, looks, look)
            if depth in (0, _usual_depth(found, looks, other)):
                few[look] = other
    return [few.get(look, look) for look in looks]


def _ordered(looks: Sequence[Look]) -> list[Look]:
    """Larger ones first; of equal size the bold, the capitals, the upright, but a rarer one that is used before."""
    times, first = Counter(looks), {look: place for place, look in reversed(list(enumerate(looks)))}
    order = sorted(times, key=lambda look: (-look[0], not look[1], not look[2], look[3]))
    for at in range(1, len(order)):
        one, other = order[at - 1], order[at]
        if one[0] == other[0] and first[other] < first[one] and times[other] < times[one]:
            order[at - 1 : at + 1] = other, one
    return order


def _ranked(order: Sequence[Look], depths: dict[Look, int]) -> dict[Look, int]:
    levels: dict[Look, int] = {}
    numbered, level = any(depths.values()), 0
    for look in order:
        below = min(level + 1, DEPTH) if level or not numbered else 1
        level = depths[look] or below
        levels[look] = level
    return levels


def _level(heading: Heading, level: int, usual: int) -> int:
    if rank_of(heading.text) == 0:
        return 0
    named = rank_of(heading.text) is not None
    return min(heading.depth if heading.depth and (usual or named) else level, DEPTH)


def _usual_depth(found: Sequence[Heading], looks: Sequence[Look], look: Look) -> int:
    """The depth of most numbered headings of `look`, 0 where too few of them have a number."""
    own = [heading.depth for heading, other in zip(found, looks, strict=True) if other == look]
    depths = Counter(depth for depth in own if depth)
    return depths.most_common(1)[0][0] if depths and depths.total() >= NUMBERED * len(own) else 0


def _below_numbers(
    found: Sequence[Heading], looks: Sequence[Look], depths: dict[Look, int], raw: Sequence[int]
) -> list[int]:
    """The levels, headings without a number put below the numbered one of their look that they follow.

    A look does so where a third of its runs of headings without a number stand between two numbers of which one is
    next to the other: at the end of every chapter (`Summary`, `Exercises`) they stand beside them, and where the count
    leaps their numbers were only not read. Looks that come after one that does so are a level deeper too.
    """
    levels = list(raw)
    runs: dict[Look, list[list[int]]] = defaultdict(list)
    within: Counter[Look] = Counter()
    for look, run, next_ in _runs(found, looks, depths):
        runs[look].append(run)
        within[look] += next_
    for look, own in runs.items():
        if within[look] * 3 >= len(own):
            lower = {other for other in set(looks) if not depths[other] and other[0] <= look[0]}
            below = {place for run in own for place in run}
            for place, other in enumerate(looks):
                if place in below or (other in lower and not found[place].depth and raw[place] > depths[look]):
                    levels[place] = min(levels[place] + 1, DEPTH)
    return levels


def _runs(
    found: Sequence[Heading], looks: Sequence[Look], depths: dict[Look, int]
) -> Iterator[tuple[Look, list[int], bool]]:
    """Headings without a number after one of their look that has one, and whether the next number follows on it.

    Only below the first level, where what has no number (`Preface`, `Index`) stands beside the chapters.
    """
    last: int | None = None
    run: list[int] = []
    for place, (heading, look) in enumerate(zip(found, looks, strict=True)):
        depth = heading.depth if depths[look] or rank_of(heading.text) is not None else 0
        if last is not None and not depth and look == looks[last]:
            run.append(place)
        elif depth or (last is not None and 0 < depths[look] < found[last].depth):
            if run and last is not None:
                yield looks[last], run, _follows(found[last], heading)
            last, run = (place if depth == depths[look] > 1 else None), []
    if run and last is not None:
        yield looks[last], run, False


def _follows(one: Heading, other: Heading) -> bool:
    """Whether the number of `other` is the next one: `2.1.4` after `2.1.3`."""
    before, after = parts_of(one.text), parts_of(other.text)
    if len(before) != len(after) or before[:-1] != after[:-1] or not before:
        return False
    return before[-1].isdigit() and after[-1].isdigit() and int(after[-1]) == int(before[-1]) + 1
