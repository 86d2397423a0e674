"""Measures how well speakers are distinguished: python -m benchmarks.speakers FOLDER [--unseen].

FOLDER has a folder of FLAC files for each reader, such as `audio_data/librispeech_test-other` of resemble-ai/Resemblyzer
(LibriSpeech, Creative Commons BY 4.0). Clips of several readers are joined with pauses, so that it is known who speaks
when. The limits were chosen with the readers of `SEEN`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from citekit.adapters.formats.media.speaker_turns import speakers_in
from citekit.adapters.formats.media.transcriber import speech_in
from citekit.adapters.libraries.faster_whisper import RATE
from citekit.adapters.libraries.voice_encoder import VoiceEncoder
from citekit.domain.progress import silent

if TYPE_CHECKING:
    from citekit.adapters.libraries.voice_encoder import Floats

SEEN, UNSEEN = ("1688", "1998", "2033", "2414", "2609", "3005"), ("3080", "3331", "367", "533")
READERS = {
    "seen": ((2, 1), (3, 2), (4, 3), (1, 4), (2, 5), (6, 6)),
    "unseen": ((2, 11), (3, 12), (4, 13), (1, 14), (4, 15)),
}
"""The number of readers of each recording, and the seed of the choice among them."""

TURNS, ALONE = 12, 6
FRAME = 0.01
VOICES = VoiceEncoder()

Turns = list[tuple[float, float, str]]


def samples_of(path: Path) -> Floats:
    whole = speech_in(path, lambda samples: [(0, len(samples))], lambda: None, silent)
    return np.concatenate([samples for _, samples, _ in whole])


def joined(folder: Path, readers: Sequence[str], seed: int) -> tuple[Floats, Turns]:
    """Return a recording in which the readers take turns, and who speaks when."""
    chosen = random.Random(seed)
    clips = {reader: sorted((folder / reader).glob("*.flac")) for reader in readers}
    for each in clips.values():
        chosen.shuffle(each)
    sound: list[Floats] = []
    truth: Turns = []
    at, last = 0, ""
    for _ in range(TURNS if len(readers) > 1 else ALONE):
        others = [reader for reader in readers if clips[reader] and (reader != last or len(readers) == 1)]
        if not others:
            break
        last = chosen.choice(others)
        samples = samples_of(clips[last].pop())[: int(RATE * chosen.uniform(1.5, 9))]
        truth += [((at + start) / RATE, (at + end) / RATE, last) for start, end in VOICES.speech(samples)]
        sound += [samples, np.zeros(int(RATE * chosen.uniform(0.2, 1)), "float32")]
        at = sum(map(len, sound))
    return np.concatenate(sound), truth


def found(sound: Floats) -> Turns:
    """Return who speaks when, as CiteKit hears it."""
    spans = VOICES.speech(sound)
    centers, speakers = speakers_in(((start / RATE, sound[start:end]) for start, end in spans), VOICES)
    named = list(zip(centers, map(str, speakers), strict=True))
    turns: Turns = []
    for start, end in ((start / RATE, end / RATE) for start, end in spans):
        own = [each for each in named if start <= each[0] < end]
        edges = [start, *((one + other) / 2 for (one, _), (other, _) in pairwise(own)), end]
        turns += [(one, other, name) for (one, other), (_, name) in zip(pairwise(edges), own, strict=True)]
    return turns


def frames(turns: Turns, count: int) -> dict[str, Floats]:
    made: dict[str, Floats] = {}
    for start, end, speaker in turns:
        made.setdefault(speaker, np.zeros(count, "float32"))[round(start / FRAME) : round(end / FRAME)] = 1
    return made


def errors(truth: Turns, heard: Turns) -> tuple[float, float, float, float]:
    """Return the seconds of speech that are missed, invented, and have a wrong speaker, and of all speech.

    Speakers are assigned to each other so that the last error is the smallest.
    """
    count = round(max(end for _, end, _ in [*truth, *heard]) / FRAME) + 1
    real, ours = list(frames(truth, count).values()), list(frames(heard, count).values())

    @cache
    def matched(number: int, used: int) -> float:
        if number == len(real):
            return 0.0
        free = [at for at in range(len(ours)) if not used >> at & 1]
        each = [float(real[number] @ ours[at]) + matched(number + 1, used | 1 << at) for at in free]
        return max([matched(number + 1, used), *each])

    spoken, said = np.sum(real, axis=0), np.sum(ours, axis=0)
    missed, invented = np.maximum(spoken - said, 0).sum(), np.maximum(said - spoken, 0).sum()
    wrong = np.minimum(spoken, said).sum() - matched(0, 0)
    return tuple(float(each) * FRAME for each in (missed, invented, wrong, spoken.sum()))  # type: ignore[return-value]


def main(folder: Path, which: str) -> None:
    ours, one_voice = np.zeros(4), np.zeros(4)
    for readers, seed in READERS[which]:
        chosen = random.Random(seed).sample(SEEN if which == "seen" else UNSEEN, readers)
        sound, truth = joined(folder, chosen, seed)
        heard = found(sound)
        ours += errors(truth, heard)
        one_voice += errors(truth, [(start, end, "") for start, end, _ in heard])
        print(f"  {readers} readers, {len({speaker for _, _, speaker in heard})} found")
    for name, (missed, invented, wrong, all_) in (("CiteKit", ours), ("one voice", one_voice)):
        error = (missed + invented + wrong) / all_
        print(
            f"{which}, {name}: {all_:.0f} s of speech, wrong speaker {wrong / all_:.3f}, diarization error {error:.3f}"
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(str(__doc__).splitlines()[0])
    main(Path(sys.argv[1]), "unseen" if "--unseen" in sys.argv else "seen")
