"""Subtitles grouped into topics: cues that follow one another closely, parted at the longest pauses."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

from citekit.adapters.mapping.local.media.naming import first_words, span
from citekit.adapters.mapping.local.outline import Draft
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue

SHORTEST = 20.0
"""Seconds that a topic lasts at least, where the next pause is not a long one."""

LONGEST = 180.0
"""Seconds after which a topic is parted at its longest pause."""

_ENDS = (".", "!", "?", "…", "。", "！", "？", '"', "”")


def topics(cues: Sequence[Cue], duration: float, modality: Modality) -> list[Draft]:
    """One draft a topic, the cues below it; siblings do not overlap, all lie inside [0, duration]."""
    kept = _apart([cue for cue in cues if 0 <= cue.start < duration and cue.text], duration)
    groups = _parted(kept)
    return [_topic(group, modality) for group in groups]


def _apart(cues: Sequence[Cue], duration: float) -> list[Cue]:
    """Cues cut where the next one starts; those that start together become one."""
    joined: list[Cue] = []
    for cue in sorted(cues, key=lambda each: each.start):
        start, end = round(cue.start, 3), min(round(cue.end, 3), duration)
        if joined and start <= joined[-1].start:
            last = joined[-1]
            text = last.text if cue.text in last.text else f"{last.text} {cue.text}"
            joined[-1] = Cue(last.start, max(last.end, end), text)
        elif end > start:
            if joined and joined[-1].end > start:
                joined[-1] = Cue(joined[-1].start, start, joined[-1].text)
            joined.append(Cue(start, end, cue.text))
    return joined


def _parted(cues: Sequence[Cue]) -> list[list[Cue]]:
    if not cues:
        return []
    pauses = [max(after.start - before.end, 0.0) for before, after in pairwise(cues)]
    long = max(2.0, 4 * statistics.median(pauses)) if pauses else 2.0
    groups = [[cues[0]]]
    for pause, cue in zip(pauses, cues[1:], strict=True):
        lasted = groups[-1][-1].end - groups[-1][0].start
        if pause >= 5 * long or (pause >= long and lasted >= SHORTEST):
            groups.append([cue])
        else:
            groups[-1].append(cue)
    return [part for group in groups for part in _shortened(group)]


def _shortened(group: list[Cue]) -> list[list[Cue]]:
    """A group that lasts too long, parted at its longest pause, at the end of a sentence where there is one."""
    pending, done = [group], []
    while pending:
        part = pending.pop()
        if part[-1].end - part[0].start <= LONGEST or len(part) < 4:
            done.append(part)
            continue
        cut = max(range(1, len(part)), key=lambda place, cues=part: _fitness(cues, place))  # type: ignore[misc]
        pending += [part[cut:], part[:cut]]
    return done


def _fitness(cues: Sequence[Cue], place: int) -> tuple[float, float]:
    """How good it is to part `cues` before `place`: a sentence ends, the pause is long, both parts are of some size."""
    start, end, at = cues[0].start, cues[-1].end, cues[place].start
    balance = min(at - start, end - at) / (end - start)
    pause = max(cues[place].start - cues[place - 1].end, 0.0)
    sentence = 1.0 if cues[place - 1].text.endswith(_ENDS) else 0.0
    return (balance >= 0.2, pause + sentence + balance)


def _topic(cues: Sequence[Cue], modality: Modality) -> Draft:
    text = " ".join(cue.text for cue in cues)
    below = [Draft(first_words(cue.text), "cue", span(cue.start, cue.end, modality), summary=cue.text) for cue in cues]
    whole = span(cues[0].start, cues[-1].end, modality)
    return Draft(first_words(text), "topic", whole, summary=text, children=below if len(cues) > 1 else ())
