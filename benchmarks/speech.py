"""Measures how well speech is recognized: python -m benchmarks.speech MODEL FOLDER [--invented [RECORDINGS]].

FOLDER has recordings, each with the words that are said in it in a text file of the same name, and optionally the times
of its lines in a CSV file of the same name (name, start, end, text; as aeneas writes them). MODEL is a folder or the name
of an installed model. `--invented` measures instead what is invented in the recordings in the folder RECORDINGS, in which
nobody speaks, such as music; without it, in 10 minutes each of silence, noise, and a synthetic tune.
"""

from __future__ import annotations

import csv
import math
import random
import re
import resource
import statistics
import sys
import tempfile
import time
import unicodedata
import wave
from array import array
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from citekit.adapters.formats.media.transcriber import WhisperTranscriber
from citekit.adapters.libraries.faster_whisper import FasterWhisper
from citekit.adapters.libraries.speech_models import chosen_model
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.source import Source
from citekit.domain.speech import Speech

INVENTED_SECONDS = 600
RATE = 8000
_NUMBERS = dict(
    zip("0123456789", ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], strict=True)
)


def words_of(text: str) -> list[str]:
    """Return the words in lower case without punctuation, and single digits as English words."""
    plain = unicodedata.normalize("NFC", text.casefold()).replace("'", "").replace("\u2019", "")
    return [_NUMBERS.get(word, word) for word in re.findall(r"\w+", plain)]


def errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return the smallest number of substituted, deleted, and inserted words."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(said, 1):
        before, row[0] = row[0], number
        for place, other in enumerate(heard, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != other))
    return row[-1]


def source_of(path: Path) -> Source:
    return Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[path.suffix])


def duration_of(path: Path) -> float:
    from citekit.adapters.formats.media.probe import PyAvProbe

    return PyAvProbe().probe(path).duration


def edges(speech: Speech, times: Path) -> Iterator[float]:
    """Yield how far each boundary between two lines is outside the pause between their words, in seconds.

    The times of lines have no pauses between them. Boundaries next to a word that was not recognized are left out.
    """
    spoken = [(word.text, word.start, word.end) for passage in speech.passages for word in passage.words]
    heard = [(words_of(text), start, end) for text, start, end in spoken]
    flat = [(word, start, end) for words, start, end in heard for word in words]
    lines = [(words_of(row[3]), float(row[1]), float(row[2])) for row in csv.reader(times.open())]
    truth = [
        (word, line, place == len(words) - 1)
        for line, (words, *_) in enumerate(lines)
        for place, word in enumerate(words)
    ]
    firsts = {line for line, (words, *_) in enumerate(lines) if words}
    starts: dict[int, float] = {}
    ends: dict[int, float] = {}
    matcher = SequenceMatcher(None, [word for word, *_ in truth], [word for word, *_ in flat], autojunk=False)
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            _, line, is_last = truth[block.a + offset]
            _, start, end = flat[block.b + offset]
            if block.a + offset == 0 or truth[block.a + offset - 1][1] != line:
                starts[line] = start
            if is_last:
                ends[line] = end
    for line in sorted(firsts):
        if line + 1 in starts and line in ends:
            boundary = lines[line][2]
            yield max(0.0, ends[line] - boundary, boundary - starts[line + 1])


def measure(transcriber: WhisperTranscriber, engine: FasterWhisper, folder: Path) -> None:
    total = [0, 0, 0]
    seconds, spent, processor = 0.0, 0.0, 0.0
    doubtful: dict[bool, list[bool]] = {False: [], True: []}
    apart: list[float] = []
    for truth in sorted(folder.glob("*.txt")):
        path = next(each for each in folder.glob(f"{truth.stem}.*") if each.suffix not in (".txt", ".csv"))
        begun, used = time.perf_counter(), time.process_time()
        speech = transcriber.transcribe(source_of(path))
        spent += time.perf_counter() - begun
        processor += time.process_time() - used
        length = duration_of(path)
        seconds += length
        said, heard = words_of(truth.read_text()), words_of(" ".join(each.text for each in speech.passages))
        segments, _ = engine._engine().transcribe(str(path), vad_filter=True)
        direct = words_of(" ".join(each.text for each in segments))
        wrong, peer = errors(said, heard), errors(said, direct)
        total = [total[0] + len(said), total[1] + wrong, total[2] + peer]
        languages = ",".join(sorted({each.language for each in speech.passages}))
        print(
            f"{path.name}: {length:.0f} s, {len(said)} words, WER {wrong / len(said):.3f}, "
            f"direct {peer / len(said):.3f}, {languages}",
            flush=True,
        )
        right = set()
        for block in SequenceMatcher(None, said, heard, autojunk=False).get_matching_blocks():
            right |= set(range(block.b, block.b + block.size))
        number = 0
        for passage in speech.passages:
            for word in passage.words:
                for _ in words_of(word.text):
                    doubtful[passage.doubts(word)].append(number in right)
                    number += 1
        if (folder / f"{truth.stem}.csv").exists():
            apart += edges(speech, folder / f"{truth.stem}.csv")
    print(f"{transcriber.name}: {seconds:.0f} s of recordings, {total[0]} words")
    print(f"WER {total[1] / total[0]:.3f}, called directly {total[2] / total[0]:.3f}")
    print(f"time {spent / seconds:.2f} of the recording, processor time {processor / seconds:.2f}")
    for doubt, found in doubtful.items():
        print(
            f"{'doubtful' if doubt else 'other'} words: {len(found)}, of them right: {sum(found) / max(len(found), 1):.3f}"
        )
    if apart:
        print(
            f"boundaries of lines: {len(apart)}, median error {statistics.median(apart):.3f} s, largest {max(apart):.2f} s"
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


def _sounds() -> Iterator[tuple[str, Iterator[float]]]:
    """Yield the name and the samples, from -1 to 1, of sounds without speech."""
    chance = random.Random(1)
    count = INVENTED_SECONDS * RATE
    yield "silence", (0.0 for _ in range(count))
    yield "white noise", (chance.uniform(-0.3, 0.3) for _ in range(count))
    yield "music", _music(count)


def _music(count: int) -> Iterator[float]:
    """Yield a tune with harmonics, chords, and beats."""
    chance = random.Random(2)
    scale = [220 * 2 ** (step / 12) for step in (0, 2, 4, 5, 7, 9, 11, 12)]
    notes = [chance.choice(scale) for _ in range(count // 2000 + 1)]
    chords = [chance.choice(scale) / 2 for _ in range(count // 8000 + 1)]
    for number in range(count):
        tune, chord, at = notes[number // 2000], chords[number // 8000], number / RATE
        fade = math.exp(-(number % 2000) / 900)
        yield 0.3 * fade * (math.sin(6.283 * tune * at) + 0.4 * math.sin(12.566 * tune * at)) + 0.15 * math.sin(
            6.283 * chord * at
        )


def measure_invented(transcriber: WhisperTranscriber) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, samples in _sounds():
            path = Path(folder) / "sound.wav"
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, RATE, 0, "NONE", ""))
                file.writeframes(array("h", (round(30_000 * each) for each in samples)).tobytes())
            report_invented(transcriber, path, name)


def report_invented(transcriber: WhisperTranscriber, path: Path, name: str) -> None:
    used = time.process_time()
    speech = transcriber.transcribe(source_of(path))
    words = [(passage.doubts(word), word.text) for passage in speech.passages for word in passage.words]
    unmarked = "".join(text for doubt, text in words if not doubt)
    print(
        f"{name}: {duration_of(path):.0f} s, {len(words)} words invented, "
        f"{sum(not doubt for doubt, _ in words)} of them unmarked{':' if unmarked else ''}{unmarked}, "
        f"processor time {time.process_time() - used:.1f} s",
        flush=True,
    )


def main() -> None:
    name, folder, *flags = sys.argv[1:]
    model = chosen_model(name)
    engine = FasterWhisper(model)
    transcriber = WhisperTranscriber(engine, model.name, model.fingerprint)
    if not flags:
        measure(transcriber, engine, Path(folder))
    elif flags[1:]:
        for path in sorted(Path(flags[1]).iterdir()):
            report_invented(transcriber, path, path.name)
    else:
        measure_invented(transcriber)


if __name__ == "__main__":
    main()
