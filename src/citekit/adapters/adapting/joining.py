"""The one place that several places make together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from citekit.domain.locations import Chapter, Lines, Location, Pages


def _never(first: int, last: int) -> bool:  # noqa: ARG001
    return False


def joined(places: Iterable[Location], blank: Callable[[int, int], bool] = _never) -> Location | None:
    """The place that is exactly all of `places`, or None where no single location says that.

    Pages may be apart; lines and chapters must follow one another without a gap, but for lines that are `blank`.
    """
    found = list(places)
    pages = [place for place in found if isinstance(place, Pages)]
    if found and len(pages) == len(found):
        return Pages.of(number for place in pages for number in place.numbers)
    lines = [place for place in found if isinstance(place, Lines)]
    if found and len(lines) == len(found):
        run = _run(((place.first, place.last) for place in lines), blank)
        return None if run is None else Lines(*run)
    chapters = [place for place in found if isinstance(place, Chapter)]
    if not found or len(chapters) != len(found):
        return None
    if len(set(chapters)) == 1:
        return chapters[0]
    run = _run((place.number, place.last) for place in chapters)
    return None if run is None else Chapter(run[0], last=run[1])


def around(places: Iterable[Location]) -> Location | None:
    """The smallest place that holds all of `places`, whatever lies between; None where they are of different kinds."""
    found = list(places)
    lines = [place for place in found if isinstance(place, Lines)]
    if found and len(lines) == len(found):
        return Lines(min(place.first for place in lines), max(place.last for place in lines))
    chapters = [place for place in found if isinstance(place, Chapter)]
    if len(set(chapters)) > 1 and len(chapters) == len(found):
        return Chapter(min(place.number for place in chapters), last=max(place.last for place in chapters))
    return joined(found)


def _run(ranges: Iterable[tuple[int, int]], blank: Callable[[int, int], bool] = _never) -> tuple[int, int] | None:
    ordered = sorted(ranges)
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last + 1 and not blank(last + 1, start - 1):
            return None
        last = max(last, end)
    return first, last
