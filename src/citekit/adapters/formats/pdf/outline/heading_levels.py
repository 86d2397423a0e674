"""Derives the levels of headings from their numbers or else from their style."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_numbers import (
    is_appendix,
    number_parts,
    rank_of,
    series_of,
    starts_series,
)
from citekit.adapters.formats.pdf.outline.headings import Heading
from citekit.adapters.formats.pdf.outline.lines import is_bold_name

HELD_SHARE = 0.8
"""The minimum share of all headings that the last heading in a style would hold for the style not to be a level."""

MAX_STEP = 3
"""The maximum difference between two plain numbers of a series of which headings may be missing."""

SAME_SIZE = 0.15
"""The maximum difference between the sizes of two headings of one series, as a share of the size of one."""

LARGER_STEP = 1.08
"""The minimum size of a heading above steps, as a multiple of their size."""

MAX_DEPTH = 6
"""The maximum depth of a tree of sections."""

NUMBERED_SHARE = 0.25
"""The minimum share of numbered headings in a style for numbers to determine its level."""

RARE_CAPITALS_SHARE = 0.2
"""Headings in capitals have no level of their own if they are fewer than this share of the others in their style."""

VisibleStyle = tuple[float, bool, bool, bool]
"""The size of a heading in points, and whether it is bold, in capitals, and italic."""

HeadingStyle = tuple[float, bool, bool, bool, int]
"""The visible style of a heading (size, bold, capitals, italic), and the nesting depth of its numbering scheme among
the schemes used in that style: `I.`, `A.`, and `1.` in one style are three levels.

The font name is ignored, so that a title with code in another font keeps its level.
"""


def levels_of(found: Sequence[Heading]) -> list[int]:
    """Return the level of each heading (1 is the top level): the depth of its number, or else a level for its style.

    There must be at least one heading. Larger styles get higher levels. Mere numbers are ignored in a style in which
    fewer than `NUMBERED_SHARE` of the headings are numbered, since an unnumbered heading may start with a number by
    chance (`2 or more`).
    """
    kinds = [_kind_of_number(heading) for heading in found]
    found = _without_inner_depths(_without_stray_depths(_without_depths_of_steps(found)), kinds)
    styles = _without_rare_capitals(found, _nested_styles(found, kinds))
    depths = {style: _usual_depth(found, styles, style) for style in set(styles)}
    levels = _level_of_each_style(_rank_styles(styles), depths, _framing_styles(styles, depths))
    raw = [_level(heading, levels[style], depths[style]) for heading, style in zip(found, styles, strict=True)]
    raw = _below_titles(found, styles, _below_numbers(found, styles, depths, raw))
    raw = _below_labels(found, _below_appendixes(found, raw))
    least = min(raw)
    return [level - least + 1 for level in raw]


def depths_of(levels: Sequence[int]) -> list[int]:
    """Return the depth of each heading in the tree that the levels describe, without gaps and at most `MAX_DEPTH`.

    A level that only one part of the document uses, such as an appendix, does not increase the depths outside of that
    part.
    """
    depths: list[int] = []
    around: list[int] = []
    for level in levels:
        while around and around[-1] >= level:
            around.pop()
        around.append(level)
        depths.append(min(len(around), MAX_DEPTH))
    return depths


def _nested_styles(found: Sequence[Heading], kinds: Sequence[str]) -> list[HeadingStyle]:
    """Return the style of each heading, extended by the nesting rank of its numbering scheme within that style."""
    visible = [_visible_style(heading) for heading in found]
    by_style: dict[VisibleStyle, list[str]] = defaultdict(list)
    for style, kind in zip(visible, kinds, strict=True):
        by_style[style].append(kind)
    ranks = {style: _ranks_of_kinds(own) for style, own in by_style.items()}
    shared = _with_one_style_per_series(visible, kinds)
    return [(*style, ranks[style].get(kind, 0)) for style, kind in zip(shared, kinds, strict=True)]


def _with_one_style_per_series(styles: Sequence[VisibleStyle], kinds: Sequence[str]) -> list[VisibleStyle]:
    """Return the styles, with one style for the headings that begin with the same word and a number (`Article 1`): the
    most common one of about their size.

    Such headings may look different, because some have a plain title or none, and because the sizes of recognized text
    vary.
    """
    times: dict[str, Counter[VisibleStyle]] = defaultdict(Counter)
    for style, kind in zip(styles, kinds, strict=True):
        times[kind][style] += 1
    chosen: dict[tuple[str, VisibleStyle], VisibleStyle] = {}
    for kind, counted in times.items():
        for style in counted if len(kind) > 1 else ():
            near = [other for other in counted if abs(other[0] - style[0]) <= SAME_SIZE * style[0]]
            chosen[kind, style] = max(near, key=lambda other: counted[other])
    return [chosen.get((kind, style), style) for style, kind in zip(styles, kinds, strict=True)]


def _ranks_of_kinds(kinds: Sequence[str]) -> dict[str, int]:
    """Return the nesting rank of each numbering scheme, from 0 for the outermost, in order of first use.

    A scheme is nested in another only if the other continues after it, unlike appendixes (`A`, `B`) after the last
    chapter.
    """
    first = {kind: at for at, kind in reversed(list(enumerate(kinds)))}
    last = {kind: at for at, kind in enumerate(kinds)}
    ranks: dict[str, int] = {}
    for kind in sorted(filter(None, first), key=first.__getitem__):
        outer = [ranks[other] for other in ranks if last[other] > first[kind]]
        ranks[kind] = max(outer) + 1 if outer else 0
    return ranks


def _kind_of_number(heading: Heading) -> str:
    """Return the numbering scheme of a heading: `1` for a number without dots, a series such as `I`, `A`, or `item`, or
    "".
    """
    if rank_of(heading.text) is not None:
        return ""
    parts = number_parts(heading.text)
    if len(parts) == 1 and parts[0].isdecimal():
        return "1"
    own = None if heading.depth else series_of(heading.text)
    return own[0] if own else ""


def _without_inner_depths(found: Sequence[Heading], kinds: Sequence[str]) -> list[Heading]:
    """Return the headings, with depth 0 for plain numbers (`1.`) that are nested in a lettered series (`I.`, `A.`)."""
    numbers: dict[str, set[str]] = {"I": set(), "A": set()}
    for heading in found:
        own = series_of(heading.text)
        if own and own[0] in numbers:
            numbers[own[0]].add(own[1])
    nested = {"1", *(kind for kind, own in numbers.items() if starts_series(kind, own))}
    if not _ranks_of_kinds([kind for kind in kinds if kind in nested]).get("1"):
        return list(found)
    return [evolve(heading, depth=0) if kind == "1" else heading for heading, kind in zip(found, kinds, strict=True)]


def _without_stray_depths(found: Sequence[Heading]) -> list[Heading]:
    """Return the headings, with depth 0 for numbers that belong to no series: those of dates (`21 May`) and amounts.

    A plain number belongs to a series if it is at most `MAX_STEP` above the one before it in its size and weight, or
    below the next one, or if a number with dots begins with it. A number with dots belongs to a series if another
    number begins like it.
    """
    numbers = [number_parts(heading.text) if rank_of(heading.text) is None else () for heading in found]
    begun = Counter(parts[:end] for parts in numbers for end in range(1, len(parts) + 1))
    plain: dict[tuple[float, bool], list[int]] = defaultdict(list)
    for at, (heading, parts) in enumerate(zip(found, numbers, strict=True)):
        if len(parts) == 1 and parts[0].isdecimal():
            plain[heading.style[1:3]].append(at)
    in_order = {
        at
        for own in plain.values()
        for pair in pairwise(own)
        for at in pair
        if 0 < int(numbers[pair[1]][0]) - int(numbers[pair[0]][0]) <= MAX_STEP
    }
    strays = {
        at
        for at, parts in enumerate(numbers)
        if parts and at not in in_order and begun[parts] < 2 and (len(parts) < 2 or begun[parts[:-1]] < 2)
    }
    return [evolve(heading, depth=0) if at in strays else heading for at, heading in enumerate(found)]


def _without_depths_of_steps(found: Sequence[Heading]) -> list[Heading]:
    """Return the headings, with depth 0 for plain numbers of steps within sections.

    Clearly larger headings are before and after the steps, but never between two successive numbers. No other heading
    has dotted numbers.
    """
    steps: dict[tuple[float, bool], list[int]] = defaultdict(list)
    for at, heading in enumerate(found):
        parts = number_parts(heading.text)
        if heading.depth == 1 and len(parts) == 1 and parts[0].isdecimal() and rank_of(heading.text) is None:
            steps[heading.style[1:3]].append(at)
    within: set[int] = set()
    for (size, _), own in steps.items():
        larger = [at for at, heading in enumerate(found) if heading.style[1] > LARGER_STEP * size]
        inner = any(heading.depth > 1 and heading.style[1] <= LARGER_STEP * size for heading in found)
        if len(own) > 1 and len(larger) > 1 and not inner and larger[0] < own[0] and own[-1] < larger[-1]:
            between = [
                bisect_left(larger, at) < bisect_left(larger, next_)
                for at, next_ in pairwise(own)
                if int(number_parts(found[next_].text)[0]) == int(number_parts(found[at].text)[0]) + 1
            ]
            within.update(own if between and not any(between) else ())
    return [evolve(heading, depth=0) if at in within else heading for at, heading in enumerate(found)]


def _visible_style(heading: Heading) -> VisibleStyle:
    """Return the size, boldness, use of capitals, and slant of a heading."""
    font, size, bold, capitals = heading.style
    first = max(heading.lines, key=lambda line: (line.size, -line.top))
    return size, bold or is_bold_name(font), capitals, first.italic


def _without_rare_capitals(found: Sequence[Heading], styles: Sequence[HeadingStyle]) -> list[HeadingStyle]:
    """Return the styles, with a rare all-capitals style merged into the same style without capitals.

    Such headings are often just names (`LVM2`), unless their numbers have a different depth.
    """
    times = Counter(styles)
    few: dict[HeadingStyle, HeadingStyle] = {}
    for style in times:
        other = (style[0], style[1], False, *style[3:])
        if style[2] and times[style] < RARE_CAPITALS_SHARE * times[other]:
            depth = _usual_depth(found, styles, style)
            if depth in (0, _usual_depth(found, styles, other)):
                few[style] = other
    return [few.get(style, style) for style in styles]


def _rank_styles(styles: Sequence[HeadingStyle]) -> list[HeadingStyle]:
    """Return the distinct styles from the highest level to the lowest: larger first, then bold, capitals, and upright.

    Of two neighboring styles of the same size, one that is rarer and is used earlier goes first.
    """
    times, first = Counter(styles), {style: index for index, style in reversed(list(enumerate(styles)))}
    order = sorted(times, key=lambda style: (-style[0], not style[1], not style[2], style[3], style[4]))
    for at in range(1, len(order)):
        one, other = order[at - 1], order[at]
        if one[:4] != other[:4] and one[0] == other[0] and first[other] < first[one] and times[other] < times[one]:
            order[at - 1 : at + 1] = other, one
    return order


def _framing_styles(styles: Sequence[HeadingStyle], depths: dict[HeadingStyle, int]) -> set[HeadingStyle]:
    """Return the styles without numbers that are used only at the beginning, or for the last heading, such as that of a
    logo, a date, or a preface. If such a style were a level, its heading would hold at least `HELD_SHARE` of all.
    """
    last = {style: at for at, style in enumerate(styles[:-1])}
    last.setdefault(styles[-1], 0)
    return {
        style for style, at in last.items() if not depths[style] and len(styles) - at - 1 >= HELD_SHARE * len(styles)
    }


def _level_of_each_style(
    order: Sequence[HeadingStyle], depths: dict[HeadingStyle, int], framing: set[HeadingStyle]
) -> dict[HeadingStyle, int]:
    """Return the level of each style of `order`.

    A `framing` style has the level of the next style that is not framing, or is one level below the last of these.
    """
    levels: dict[HeadingStyle, int] = {}
    numbered, level = any(depths.values()), 0
    waiting: list[HeadingStyle] = []
    for style in order:
        waiting.append(style)
        if style not in framing:
            level = depths[style] or (level + 1 if level or not numbered else 1)
            levels.update(dict.fromkeys(waiting, level))
            waiting = []
    return levels | dict.fromkeys(waiting, level + 1)


def _below_labels(found: Sequence[Heading], raw: Sequence[int]) -> list[int]:
    """Return the levels, with numbers below the label that they begin with: `8.1` below `Clause 8`."""
    levels: list[int] = []
    number, label = "", 0
    for heading, level in zip(found, raw, strict=True):
        own, parts = series_of(heading.text), number_parts(heading.text)
        if own and len(own[0]) > 1 and not heading.depth:
            number, label = own[1], level
        elif len(parts) > 1 and parts[0] == number:
            level = max(level, label + len(parts) - 1)
        levels.append(level)
    return levels


def _level(heading: Heading, level: int, usual: int) -> int:
    if rank_of(heading.text) == 0:
        return 0
    named = rank_of(heading.text) is not None
    return heading.depth if heading.depth and (usual or named) else level


def _usual_depth(found: Sequence[Heading], styles: Sequence[HeadingStyle], style: HeadingStyle) -> int:
    """Return the most common number depth of the headings in `style`, or 0 if few have a number."""
    own = [heading.depth for heading, other in zip(found, styles, strict=True) if other == style]
    depths = Counter(depth for depth in own if depth)
    return depths.most_common(1)[0][0] if depths and depths.total() >= NUMBERED_SHARE * len(own) else 0


def _below_numbers(
    found: Sequence[Heading], styles: Sequence[HeadingStyle], depths: dict[HeadingStyle, int], raw: Sequence[int]
) -> list[int]:
    """Return the levels, with unnumbered headings moved below the numbered heading of the same style that they follow.

    This applies to a style if enough of its groups of unnumbered headings are between two consecutive numbers, unlike
    the `Exercises` at the end of each chapter.
    """
    levels = list(raw)
    runs: dict[HeadingStyle, list[list[int]]] = defaultdict(list)
    within: Counter[HeadingStyle] = Counter()
    for style, run, next_ in _unnumbered_runs(found, styles, depths):
        runs[style].append(run)
        within[style] += next_
    for style, own in runs.items():
        if within[style] * 3 >= len(own):
            lower = {other for other in set(styles) if not depths[other] and other[0] <= style[0]}
            below = {index for run in own for index in run}
            for index, other in enumerate(styles):
                if index in below or (other in lower and not found[index].depth and raw[index] > depths[style]):
                    levels[index] += 1
    return levels


def _below_appendixes(found: Sequence[Heading], raw: Sequence[int]) -> list[int]:
    """Return the levels, with headings moved below the appendix before them if their numbers begin again at 1 in it."""
    levels: list[int] = []
    counted, appendix, step = False, math.inf, 0
    for heading, level in zip(found, raw, strict=True):
        is_first = number_parts(heading.text)[:1] == ("1",) or (series_of(heading.text) or ("",))[-1] in ("1", "I")
        if is_appendix(heading.text):
            appendix, step = level, 0
        elif is_first and counted and level <= appendix < math.inf and not step:
            step = int(appendix) + 1 - level
        counted = counted or is_first
        levels.append(level + step)
    return levels


def _below_titles(found: Sequence[Heading], styles: Sequence[HeadingStyle], raw: Sequence[int]) -> list[int]:
    """Return the levels, with numbered headings moved below larger headings without numbers that have the same level.

    This applies to a style with several such titles, each of which is directly above the first number of a series:
    `Program A`, `2.1`, `2.2`, `Program B`, `3.1`.
    """
    above: dict[HeadingStyle, list[bool]] = defaultdict(list)
    for at, heading in enumerate(found):
        if not heading.depth:
            begins = at + 1 < len(found) and raw[at + 1] == raw[at] and number_parts(found[at + 1].text)[-1:] == ("1",)
            above[styles[at]].append(begins and found[at + 1].style[1] < heading.style[1])
    titles = {style for style, own in above.items() if len(own) > 1 and all(own)}
    levels: list[int] = []
    title = 0
    for heading, style, level in zip(found, styles, raw, strict=True):
        is_title = style in titles and not heading.depth
        if is_title or level < title or (level == title and not heading.depth):
            title = level if is_title else 0
        levels.append(level + (title > 0 and not is_title))
    return levels


def _unnumbered_runs(
    found: Sequence[Heading], styles: Sequence[HeadingStyle], depths: dict[HeadingStyle, int]
) -> Iterator[tuple[HeadingStyle, list[int], bool]]:
    """Yield each group of unnumbered headings that follows a numbered heading in the same style below the top level.

    Each item has the style, the indexes of the group, and whether the next number follows the last one without a gap.
    """
    last: int | None = None
    run: list[int] = []
    for index, (heading, style) in enumerate(zip(found, styles, strict=True)):
        depth = heading.depth if depths[style] or rank_of(heading.text) is not None else 0
        if last is not None and not depth and style == styles[last]:
            run.append(index)
        elif depth or (last is not None and 0 < depths[style] < found[last].depth):
            if run and last is not None:
                yield styles[last], run, _is_next_number(found[last], heading)
            last, run = (index if depth == depths[style] > 1 else None), []
    if run and last is not None:
        yield styles[last], run, False


def _is_next_number(one: Heading, other: Heading) -> bool:
    """Return whether the number of `other` directly follows that of `one`, as `2.1.4` follows `2.1.3`."""
    before, after = number_parts(one.text), number_parts(other.text)
    if len(before) != len(after) or before[:-1] != after[:-1] or not before:
        return False
    return before[-1].isdigit() and after[-1].isdigit() and int(after[-1]) == int(before[-1]) + 1
