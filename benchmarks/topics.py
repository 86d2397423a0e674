"""Measures topics against human chapters: python -m benchmarks.topics FOLDER [--unseen].

FOLDER is a copy of github.com/bitcointranscripts/bitcointranscripts (MIT license): transcripts of talks and podcasts that
people edited, with headings. A turn of a speaker begins with its time. Its sentences become subtitles, whose times are
interpolated by their length. A heading is a boundary at the time of the sentence after it. Every third transcript is
unseen.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.media.outline.topics import topics_from_cues
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue

TOLERANCES = (5.0, 30.0)
MIN_TURNS, MIN_HEADINGS = 20, 4
UNSEEN = 3
PACE = 15.0
"""Characters that are said in a second, for the last turn."""

_TIME = re.compile(r"[^\n:#\[\]]{0,60}?:?\s*\(?\[?((?:\d{1,2}:)?\d{1,3}:\d\d)\]?\)?:?\s*")
_HEADING = re.compile(r"#{1,3} (.+)")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|$)", re.DOTALL)


@frozen
class Talk:
    """The subtitles of a recording and the times at which its chapters begin, without the first one."""

    name: str
    cues: Sequence[Cue]
    chapters: Sequence[float]

    @property
    def duration(self) -> float:
        return self.cues[-1].end


def seconds(text: str) -> float:
    total = 0
    for part in text.split(":"):
        total = 60 * total + int(part)
    return float(total)


def talk_in(path: Path) -> Talk | None:
    """Return the talk in a transcript, or None if it has few turns with times, few headings, or times that go back."""
    text = path.read_text("utf-8").removeprefix("---").partition("\n---")[2]
    turns: list[tuple[float, list[str]]] = []
    begins: list[tuple[int, int]] = []  # the number of the turn, and of the line in it, after each heading
    for line in text.splitlines():
        plain = line.strip().replace("**", "")
        time, heading = _TIME.fullmatch(plain), _HEADING.match(plain)
        if heading:
            begins.append((len(turns) - 1, len(turns[-1][1])) if turns else (0, 0))
        elif time:
            if begins and begins[-1] == (len(turns) - 1, len(turns[-1][1]) if turns else 0):
                begins[-1] = (len(turns), 0)
            turns.append((seconds(time[1]), []))
        elif plain and turns:
            turns[-1][1].append(plain)
    if len(turns) < MIN_TURNS or any(one > other for (one, _), (other, _) in pairwise(turns)):
        return None
    cues: list[Cue] = []
    starts: dict[tuple[int, int], float] = {}
    ends = [start for start, _ in turns[1:]] + [turns[-1][0] + len(" ".join(turns[-1][1])) / PACE]
    for number, ((start, lines), end) in enumerate(zip(turns, ends, strict=True)):
        length, said = sum(map(len, lines)) or 1, 0
        starts[number, 0] = start
        for place, each in enumerate(lines):
            starts[number, place] = start + (end - start) * said / length
            for sentence in _SENTENCE.finditer(each):
                first, last = (start + (end - start) * (said + at) / length for at in sentence.span())
                cues.append(Cue(first, last, sentence[0].replace("\n", " ")))
            said += len(each)
    chapters = sorted({starts[each] for each in begins if each in starts} - {0.0, cues[0].start})
    return Talk(path.stem, cues, chapters) if len(chapters) >= MIN_HEADINGS - 1 else None


def talks(folder: Path, *, unseen: bool) -> Iterator[Talk]:
    """Yield the talks in English."""
    found = [talk for path in sorted(folder.rglob("*.md")) if path.name.count(".") == 1 and (talk := talk_in(path))]
    yield from (each for number, each in enumerate(found) if (number % UNSEEN == UNSEEN - 1) is unseen)


def matched(found: Sequence[float], wanted: Sequence[float], tolerance: float) -> int:
    """Return how many boundaries are within `tolerance` of each other, each used once. Both are in order."""
    count = at = 0
    for each in wanted:
        while at < len(found) and found[at] < each - tolerance:
            at += 1
        if at < len(found) and found[at] <= each + tolerance:
            count, at = count + 1, at + 1
    return count


def topics_of(talk: Talk) -> list[float]:
    items = topics_from_cues(talk.cues, talk.duration, Modality.AUDIO)
    return [item.location.start for item in items[1:] if isinstance(item.location, TimeSpan)]


def even(talk: Talk, count: int) -> list[float]:
    """Return boundaries that divide the talk into equal parts."""
    return [talk.duration * each / (count + 1) for each in range(1, count + 1)]


def report(name: str, pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
    scores = []
    for tolerance in TOLERANCES:
        hits = sum(matched(found, wanted, tolerance) for found, wanted in pairs)
        precision = hits / max(sum(len(found) for found, _ in pairs), 1)
        recall = hits / max(sum(len(wanted) for _, wanted in pairs), 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        scores.append(f"within {tolerance:.0f} s: F1 {f1:.2f} (precision {precision:.2f}, recall {recall:.2f})")
    print(f"{name}: {sum(len(found) for found, _ in pairs)} boundaries; {'; '.join(scores)}")


def main(folder: Path, *, unseen: bool) -> None:
    chosen = list(talks(folder, unseen=unseen))
    if not chosen:
        sys.exit(f"{folder} contains no transcripts with headings and times.")
    lengths = [end - start for talk in chosen for start, end in pairwise([0.0, *talk.chapters, talk.duration])]
    print(
        f"{len(chosen)} talks, {sum(talk.duration for talk in chosen) / 3600:.1f} hours, "
        f"{sum(len(talk.chapters) for talk in chosen)} boundaries of chapters, median {statistics.median(lengths):.0f} s"
    )
    topics = [(topics_of(talk), talk.chapters) for talk in chosen]
    report("topics", topics)
    report(
        "as many equal parts",
        [(even(talk, len(found)), wanted) for talk, (found, wanted) in zip(chosen, topics, strict=True)],
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(str(__doc__).splitlines()[0])
    main(Path(sys.argv[1]), unseen="--unseen" in sys.argv)
