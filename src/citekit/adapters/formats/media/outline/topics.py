"""Groups subtitle cues into topics. A topic ends at a long pause or where the vocabulary changes."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from attrs import evolve

from citekit.adapters.formats.media.outline.time_segments import TITLE_LIMIT, span, title_from_text
from citekit.adapters.formats.shared.central_sentences import central_sentences
from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, OutlineItem, one_line
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue

MIN_TOPIC = 20.0
"""The minimum length of a topic, in seconds, that a long pause ends. A very long pause also ends a shorter topic."""

MAX_TOPIC = 180.0
"""The length of a topic, in seconds, above which it is split if it has at least four cues.

What is said over a slide that is shown for longer is divided into topics.
"""

BLOCK = 8
"""The number of cues on each side of a position whose vocabulary is compared."""

_WORD = re.compile(r"\w{4,}")
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", '"', "”")


def topics_from_cues(cues: Sequence[Cue], duration: float, modality: Modality) -> list[OutlineItem]:
    """Return an outline item for each topic, with its cues as children, or with the turns of its speakers if they are
    known.

    The title comes from the central sentence of the topic. The summary is what is said or, if that is long, the central
    sentence. Topics do not overlap and are between 0 and `duration` (seconds).
    """
    usable = _without_overlaps([cue for cue in cues if 0 <= cue.start < duration and cue.text], duration)
    groups = _groups(usable)
    central = central_sentences([[cue.text for cue in group] for group in groups])
    return [_topic(group, sentence, modality) for group, sentence in zip(groups, central, strict=True)]


def summary_of(cues: Sequence[Cue]) -> str | None:
    """Return what is said or, if that is long, a sentence of it; None if nothing is said."""
    text = " ".join(cue.text for cue in cues)
    return (text if len(text) <= SUMMARY_LIMIT else central_sentences([[cue.text for cue in cues]])[0]) or None


def _without_overlaps(cues: Sequence[Cue], duration: float) -> list[Cue]:
    """Return the cues in order, merged if they start at the same time, and each ending at the latest where the next one
    starts.
    """
    joined: list[Cue] = []
    for cue in sorted(cues, key=lambda each: each.start):
        start, end = round(cue.start, 3), min(round(cue.end, 3), duration)
        if joined and start <= joined[-1].start:
            last = joined[-1]
            text = last.text if cue.text in last.text else f"{last.text} {cue.text}"
            joined[-1] = Cue(last.start, max(last.end, end), text, last.voice if last.voice == cue.voice else "")
        elif end > start:
            if joined and joined[-1].end > start:
                joined[-1] = evolve(joined[-1], end=start)
            joined.append(Cue(start, end, cue.text, cue.voice))
    return joined


def _groups(cues: Sequence[Cue]) -> list[list[Cue]]:
    if not cues:
        return []
    pauses = [max(after.start - before.end, 0.0) for before, after in pairwise(cues)]
    shifts = vocabulary_shifts([cue.text for cue in cues])
    long_pause = max(2.0, 4 * statistics.median(pauses)) if pauses else 2.0
    firsts = [0]
    for index, pause in enumerate(pauses, 1):
        duration = cues[index - 1].end - cues[firsts[-1]].start
        if pause >= 5 * long_pause or (pause >= long_pause * (1 - shifts[index] / 2) and duration >= MIN_TOPIC):
            firsts.append(index)
    groups = pairwise([*firsts, len(cues)])
    return [list(cues[a:b]) for first, end in groups for a, b in _split_long(cues, shifts, first, end)]


def _split_long(cues: Sequence[Cue], shifts: Sequence[float], first: int, end: int) -> list[tuple[int, int]]:
    """Split the cues from `first` to `end` (exclusive) into groups of at most `MAX_TOPIC` seconds or fewer than four
    cues.
    """
    pending, done = [(first, end)], []
    while pending:
        low, high = pending.pop()
        if cues[high - 1].end - cues[low].start <= MAX_TOPIC or high - low < 4:
            done.append((low, high))
            continue
        cut = max(range(low + 1, high), key=lambda index, a=low, b=high: _split_score(cues, shifts, a, b, index))  # type: ignore[misc]
        pending += [(cut, high), (low, cut)]
    return done


def _split_score(cues: Sequence[Cue], shifts: Sequence[float], low: int, high: int, index: int) -> tuple[bool, float]:
    """Rate a split of the cues from `low` to `high` (exclusive) before the cue `index`; larger is better."""
    start, end, at = cues[low].start, cues[high - 1].end, cues[index].start
    balance = min(at - start, end - at) / (end - start)
    pause = max(cues[index].start - cues[index - 1].end, 0.0)
    sentence = 1.0 if cues[index - 1].text.endswith(_SENTENCE_ENDS) else 0.0
    return (balance >= 0.2, pause + sentence + balance + 2 * shifts[index])


def vocabulary_shifts(texts: Sequence[str]) -> list[float]:
    """Return a score for each text: how much the vocabulary changes at its beginning.

    The scores are the depth scores of TextTiling (M. Hearst, Computational Linguistics 23, 1997) over blocks of `BLOCK`
    texts, and 0 near both ends.
    """
    words = [Counter(word for word in _WORD.findall(text.casefold())) for text in texts]
    similarities = [_cosine(words[max(at - BLOCK, 0) : at], words[at : at + BLOCK]) for at in range(len(words))]
    inner = range(BLOCK // 2, len(similarities) - BLOCK // 2 + 1)
    depths = []
    for index, similarity in enumerate(similarities):
        left = max(similarities[max(index - BLOCK, 1) : index + 1], default=similarity)
        right = max(similarities[index : index + BLOCK], default=similarity)
        depths.append(max(0.0, (left + right) / 2 - similarity) if index in inner else 0.0)
    return depths


def _cosine(one: Sequence[Counter[str]], other: Sequence[Counter[str]]) -> float:
    left, right = _total(one), _total(other)
    product = sum(count * right[word] for word, count in left.items())
    sizes = math.sqrt(sum(n * n for n in left.values())) * math.sqrt(sum(n * n for n in right.values()))
    return product / sizes if sizes else 0.0


def _total(counts: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _topic(cues: Sequence[Cue], sentence: str, modality: Modality) -> OutlineItem:
    text = " ".join(cue.text for cue in cues)
    summary = text if len(text) <= SUMMARY_LIMIT else sentence
    children = cue_items(cues, modality)
    location = span(cues[0].start, cues[-1].end, modality)
    has_parts = len(cues) > 1 or bool(cues[0].voice)
    return OutlineItem(
        title_from_text(sentence or text), "topic", location, summary=summary, children=children if has_parts else ()
    )


def cue_items(cues: Sequence[Cue], modality: Modality) -> list[OutlineItem]:
    """Return an outline item for each subtitle or, if speakers are known, for each turn of a speaker."""
    return _turns(cues, modality) if any(cue.voice for cue in cues) else [_cue(cue, modality) for cue in cues]


def _turns(cues: Sequence[Cue], modality: Modality) -> list[OutlineItem]:
    """Return an outline item for each turn of a speaker, and for each subtitle without a known speaker."""
    items: list[OutlineItem] = []
    for voice, group in groupby(cues, key=lambda cue: cue.voice):
        turn = list(group)
        items += [_turn(voice, turn, modality)] if voice else [_cue(cue, modality) for cue in turn]
    return items


def _turn(voice: str, cues: Sequence[Cue], modality: Modality) -> OutlineItem:
    text = " ".join(cue.text for cue in cues)
    title = one_line(f"{voice}: {title_from_text(text)}", TITLE_LIMIT + len(voice))
    children = [_cue(cue, modality) for cue in cues] if len(cues) > 1 else ()
    return OutlineItem(
        title, "turn", span(cues[0].start, cues[-1].end, modality), summary=f"{voice}: {text}", children=children
    )


def _cue(cue: Cue, modality: Modality) -> OutlineItem:
    return OutlineItem(title_from_text(cue.text), "cue", span(cue.start, cue.end, modality), summary=cue.text)
