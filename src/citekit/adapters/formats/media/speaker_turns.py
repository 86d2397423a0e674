"""Distinguishes the speakers of a recording by their voices, and divides what is said into their turns.

A model turns each 1.6 s of speech into a vector. Vectors of similar voices are joined into clusters, and each large
cluster is a speaker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from attrs import evolve, field, frozen

from citekit.adapters.formats.media.transcriber import speech_in
from citekit.adapters.libraries import voice_encoder
from citekit.adapters.libraries.faster_whisper import RATE
from citekit.adapters.libraries.voice_encoder import STRETCH
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.libraries.voice_encoder import Floats

VERSION = "1"
"""Change this whenever the same words and sound would result in different turns."""

SAME_VOICE = 0.68
"""The minimum mean similarity, from 0 to 1, of the vectors of two clusters that are one voice.

Within a voice, the mean is about 0.77; between two voices, about 0.50 (recordings of six readers).
"""

MIN_VECTORS = 4
"""The minimum number of vectors of a cluster that is a speaker: about 3 s of continuous speech."""

CHANGE = 0.1
"""The margin, summed over its vectors, by which a turn must be more similar to a new speaker than to the last one."""

CHANGE_AT_PAUSE = 0.03
"""The value of `CHANGE` for a turn that follows a pause."""

AT_ONCE = 400
"""The maximum number of vectors that are clustered at once. The clusters of such groups are then clustered."""


class VoiceModel(Protocol):
    """A model that turns speech into vectors. For the methods, see `VoiceEncoder`."""

    def speech(self, samples: Floats) -> list[tuple[int, int]]:
        """Return the parts of `samples` in which somebody speaks, as ranges of samples."""

    def starts(self, seconds: float) -> list[float]:
        """Return the start, in seconds, of each section of a sound that gets a vector. The sound lasts `seconds`."""

    def vectors(self, samples: Floats) -> Floats:
        """Return an array with a row for each of the `starts`: the vector of the sound there."""


@frozen
class SpeakerTurns:
    """A `Transcriber` that divides the passages of another transcriber, `words`, into turns, and names their speakers.

    If there is only one voice, nothing changes. `before` is called before each block of sound, so that the caller can
    give it a time budget of its own. Turns are cached in `index`.
    """

    words: Transcriber
    voices: VoiceModel
    index: Index | None = field(default=None, repr=False)
    before: Callable[[], object] = field(default=lambda: None, repr=False)

    @property
    def name(self) -> str:
        """See `Transcriber.name`."""
        return self.words.name

    @property
    def version(self) -> str:
        """See `Transcriber.version`."""
        return f"{self.words.version} speakers {VERSION} {voice_encoder.version()}"

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        """See `Transcriber.transcribe`."""
        speech = self.words.transcribe(source, progress)
        words = [word for passage in speech.passages for word in passage.words]
        if not words:
            return speech
        key = f"speakers {self.version} {len(words)} {source.digest.hex}"  # a model may hear other words next time
        stored = None if self.index is None else self.index.get(key)
        numbers = stored["speakers"] if stored is not None else self._speakers(source.path, words, progress)
        if stored is None and self.index is not None:
            self.index.put(key, {"speakers": numbers})
        return evolve(speech, passages=list(_divided(speech.passages, numbers)))

    def _speakers(self, path: Path, words: Sequence[SpokenWord], progress: Progress) -> list[int]:
        """Return the number of the speaker of each word, from 1; all are 0 if there is only one speaker."""
        sound = speech_in(path, self.voices.speech, self.before, progress)
        centers, found = speakers_in(((start, samples) for start, samples, _ in sound), self.voices)
        return _numbered([found[at] for at in _nearest(words, centers)]) if found else [0] * len(words)


def speakers_in(speech: Iterable[tuple[float, Floats]], voices: VoiceModel) -> tuple[list[float], list[int]]:
    """Return two lists: the middle of each vector of `speech`, in seconds, and the number of its speaker, from 0.

    `speech` has the start in seconds and the samples of each stretch of speech.
    """
    vectors: list[Floats] = []
    centers: list[float] = []
    groups: list[int] = []
    for number, (start, samples) in enumerate(speech):
        seconds = len(samples) / RATE
        vectors.append(voices.vectors(samples))
        centers += [start + each + min(STRETCH, seconds) / 2 for each in voices.starts(seconds)]
        groups += [number] * (len(centers) - len(groups))
    return centers, speakers_of(np.concatenate(vectors), groups) if vectors else []


def speakers_of(vectors: Floats, groups: Sequence[int]) -> list[int]:
    """Return the number of the speaker of each vector, from 0.

    `vectors` has a row for each vector, in chronological order, and `groups` the number of its stretch of speech.
    """
    parts = [range(at, min(at + AT_ONCE, len(vectors))) for at in range(0, len(vectors), AT_ONCE)]
    clusters = [
        [part[each] for each in cluster]
        for part in parts
        for cluster in joined(vectors[part.start : part.stop], [1] * len(part))
    ]
    if len(parts) > 1:
        sums = np.stack([vectors[cluster].sum(axis=0) for cluster in clusters])
        sizes = [len(cluster) for cluster in clusters]
        clusters = [[at for each in one for at in clusters[each]] for one in joined(sums, sizes)]
    large = [each for each in clusters if len(each) >= MIN_VECTORS] or [max(clusters, key=len)]
    centers = np.stack([vectors[each].sum(axis=0) for each in large])
    centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-9)
    return _most_probable(vectors @ centers.T, groups)


def joined(sums: Floats, sizes: Sequence[int]) -> list[list[int]]:
    """Join the most similar clusters until none are similar, and return the original indexes in each joined cluster.

    `sums` has the sum of the vectors of each cluster, and `sizes` their number. The similarity is the mean over pairs
    of vectors (average linkage).
    """
    sums, counts = sums.astype("float64"), np.array(sizes, "float64")
    members = [[each] for each in range(len(sums))]
    similar = (sums @ sums.T) / np.outer(counts, counts)
    np.fill_diagonal(similar, -1.0)
    while len(sums) > 1:
        one, other = divmod(int(similar.argmax()), len(sums))
        if similar[one, other] < SAME_VOICE:
            break
        sums[one] += sums[other]
        counts[one] += counts[other]
        members[one] += members[other]
        members[other] = []
        row = (sums @ sums[one]) / (counts * counts[one])
        row[[not each for each in members]] = -1.0
        row[one] = -1.0
        similar[one, :] = similar[:, one] = row
        similar[other, :] = similar[:, other] = -1.0
    return [each for each in members if each]


def _most_probable(similar: Floats, groups: Sequence[int]) -> list[int]:
    """Return the sequence of speakers (columns of `similar`) with the highest sum of similarities, less a cost for each
    change.
    """
    reached, count = similar[0], similar.shape[1]
    origins = []
    for at in range(1, len(similar)):
        best = int(reached.argmax())
        changed = reached[best] - (CHANGE if groups[at] == groups[at - 1] else CHANGE_AT_PAUSE)
        origins.append(np.where(reached >= changed, np.arange(count), best))
        reached = np.maximum(reached, changed) + similar[at]
    found = [int(reached.argmax())]
    for origin in reversed(origins):
        found.append(int(origin[found[-1]]))
    return found[::-1]


def _nearest(words: Sequence[SpokenWord], centers: Sequence[float]) -> Iterator[int]:
    """Yield the index of the center that is nearest to the middle of each word, both in chronological order."""
    at = 0
    for word in words:
        middle = (word.start + word.end) / 2
        while at + 1 < len(centers) and abs(centers[at + 1] - middle) <= abs(centers[at] - middle):
            at += 1
        yield at


def _numbered(speakers: Sequence[int]) -> list[int]:
    """Number the speakers from 1 in order of first use; all are 0 if there is only one."""
    order = list(dict.fromkeys(speakers))
    return [order.index(each) + 1 if len(order) > 1 else 0 for each in speakers]


def _divided(passages: Sequence[SpokenPassage], numbers: Sequence[int]) -> Iterator[SpokenPassage]:
    """Yield the passages, divided where the speaker changes. `numbers` has the speaker of each word."""
    at = 0
    for passage in passages:
        spoken = list(zip(passage.words, numbers[at : at + len(passage.words)], strict=True))
        at += len(passage.words)
        for number, turn in groupby(spoken, key=lambda each: each[1]):
            voice = f"Speaker {number}" if number else ""
            yield evolve(passage, words=[word for word, _ in turn], voice=voice)
