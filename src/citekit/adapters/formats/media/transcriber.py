"""Transcribes recordings with a Whisper model, in windows that end at pauses.

Windows and their words are cached under the digest of their samples, so an interrupted run continues where it stopped.
All passages are then cached under the digest of the recording.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from citekit.adapters.formats.media.outline.audio_features import mono_frames
from citekit.adapters.formats.media.streams import audio_stream
from citekit.adapters.libraries import faster_whisper
from citekit.adapters.libraries.faster_whisper import EXTRA, FEATURE, RATE, RecognizedPassage, RecognizedWord
from citekit.adapters.libraries.model_files import imported
from citekit.adapters.libraries.pyav import open_media
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import SpeechMissing
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpeechWindow, SpokenPassage, SpokenWord

if TYPE_CHECKING:
    from citekit.adapters.libraries.faster_whisper import Samples
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

VERSION = "3"
"""Change this whenever the same recording and model would result in different words."""

BLOCK = 300
"""The number of seconds of sound that are searched for speech at once, or slightly more."""

_TAIL = RATE
"""The minimum number of samples at the end of a block that are searched again with the next block."""


class SpeechModelEngine(Protocol):
    """A speech model that recognizes words in samples. For the methods, see `FasterWhisper`."""

    def windows(self, samples: Samples) -> list[tuple[int, int]]:
        """Return the windows with speech, as ranges of samples."""

    def recognize(self, samples: Samples, language: str | None, expected: str | None) -> list[RecognizedPassage]:
        """Return the passages that are spoken in a window."""


@frozen
class WhisperTranscriber:
    """A `Transcriber` that uses a Whisper model.

    `model` is the name of the model, and `fingerprint` changes with its content. `language` is the language of all
    recordings, or None to detect it. `before` is called before each block, and before each window that is not in the
    cache, so that the caller can give each a time budget of its own. Results are cached in `index`.
    """

    engine: SpeechModelEngine
    model: str
    fingerprint: str
    language: str | None = None
    index: Index | None = field(default=None, repr=False)
    before: Callable[[], object] = field(default=lambda: None, repr=False)

    @property
    def name(self) -> str:
        """See `Transcriber.name`."""
        return f"faster-whisper {version_of('faster_whisper', 'faster-whisper')} ({self.model})"

    @property
    def version(self) -> str:
        """See `Transcriber.version`."""
        return f"{VERSION} {faster_whisper.version()} {self.fingerprint} {self.language or ''}".rstrip()

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        """See `Transcriber.transcribe`."""
        stored = StoredSpeech(self.name, self.version, self.index)
        found = stored.get(source)
        if found is not None:
            return found
        passages: list[SpokenPassage] = []
        expected = self.language
        for start, samples, duration in speech_in(source.path, self._windows, self.before, progress):
            progress(start, duration, "recognizing speech")
            recognized = self._recognized(samples, expected)
            expected = recognized[-1].language if recognized else expected
            passages += [placed(each, start) for each in recognized]
        return stored.put(source, Speech(passages=passages, transcriber=self.name))

    def _windows(self, samples: Samples) -> list[tuple[int, int]]:
        """Return the windows with speech in a block of sound from the cache, or search for them."""
        if self.index is None:
            return self.engine.windows(samples)
        key = f"speech windows {VERSION} {faster_whisper.version()} {hashlib.sha256(samples.tobytes()).hexdigest()}"
        stored = self.index.get(key)
        if stored is not None:
            return [(start, end) for start, end in stored["windows"]]
        found = self.engine.windows(samples)
        self.index.put(key, {"windows": [[int(start), int(end)] for start, end in found]})
        return found

    def _recognized(self, samples: Samples, expected: str | None) -> list[RecognizedPassage]:
        """Return the passages of a window from the cache, or recognize them. `expected` is the previous window's
        language.
        """
        digest = hashlib.sha256(samples.tobytes()).hexdigest()
        key = f"speech {self.version} {expected or ''} {digest}"
        found = None if self.index is None else self.index.get(key)
        if found is not None:
            return passages_from(found)
        self.before()
        made = self.engine.recognize(samples, self.language, expected)
        if self.index is not None:
            self.index.put(key, plain_passages(made))
        return made


@frozen
class StoredSpeech:
    """A `Transcriber` that only knows what another transcriber with the same name and version stored in `index`.

    Workers use it if a service recognizes the words, because they have no network.
    """

    name: str
    version: str
    index: Index | None = field(repr=False)

    def get(self, source: Source) -> Speech | None:
        """Return the stored speech of a recording, or None if there is none."""
        found = None if self.index is None else self.index.get(self._key(source))
        if found is None:
            return None
        return Speech(
            passages=[placed(each, 0.0) for each in passages_from(found)],
            transcriber=str(found.get("transcriber", self.name)),
        )

    def put(self, source: Source, speech: Speech) -> Speech:
        """Store the speech of a recording if there is an `index`, and return it."""
        if self.index is not None:
            self.index.put(self._key(source), {**plain_passages(speech.passages), "transcriber": speech.transcriber})
        return speech

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:  # noqa: ARG002
        """See `Transcriber.transcribe`. Raise `SpeechMissing` if nothing is stored for this recording."""
        found = self.get(source)
        if found is None:
            raise SpeechMissing(
                f"The words that {self.name} recognized in {source.path.name} are not in the cache. Check that the "
                "cache folder of the home is writable."
            )
        return found

    def _key(self, source: Source) -> str:
        return f"speech {self.version} recording {source.digest.hex}"


def speech_in(
    path: Path, windows: Callable[[Samples], list[tuple[int, int]]], before: Callable[[], object], progress: Progress
) -> Iterator[tuple[float, Samples, float | None]]:
    """Yield the start of each window with speech, its samples, and the duration of the recording (None if unknown).

    Both times are in seconds. `windows` finds speech in samples. Before each block, `before` is called and progress is
    reported, because nothing may be said for hours. Raise the errors of `open_media`.
    """
    with open_media(path) as container:
        if audio_stream(container) is None:
            return
        duration = None if container.duration is None else container.duration / 1_000_000

        def spans(offset: int, samples: Samples) -> list[tuple[int, int]]:
            before()
            progress(offset / RATE, duration, "looking for speech")
            return windows(samples)

        for start, samples in _windows_of(_blocks(container), spans):
            yield start / RATE, samples, duration


@frozen
class LocalSpeechWindows:
    """Cuts recordings at pauses in this process. See `SpeechWindows`."""

    before: Callable[[], object] = field(default=lambda: None, repr=False)

    def write(self, source: Source, target: Path, progress: Progress = silent) -> list[SpeechWindow]:
        """See `SpeechWindows.write`."""
        found: list[SpeechWindow] = []
        with target.open("wb") as file:
            for start, samples, _ in speech_in(source.path, faster_whisper.speech_windows, self.before, progress):
                file.write((samples * 32768).round().clip(-32768, 32767).astype("<i2").tobytes())
                found.append(SpeechWindow(start, len(samples)))
        return found


def _blocks(container: Any) -> Iterator[Samples]:
    """Yield the sound of a recording as samples from -1 to 1, in blocks of at least `BLOCK` seconds except the last."""
    array: Any = imported("numpy", FEATURE, EXTRA)
    pending: list[Any] = []
    held = 0
    for frame in mono_frames(container, RATE):
        pending.append(array.frombuffer(bytes(frame.planes[0])[: 2 * frame.samples], dtype="<i2"))
        held += frame.samples
        if held >= BLOCK * RATE:
            yield array.concatenate(pending).astype("float32") / 32768
            pending, held = [], 0
    if pending:
        yield array.concatenate(pending).astype("float32") / 32768


def _windows_of(
    blocks: Iterator[Samples], spans: Callable[[int, Samples], list[tuple[int, int]]]
) -> Iterator[tuple[int, Samples]]:
    """Yield the offset and the samples of each window. `spans` returns the windows in the samples at an offset.

    The last window of a block may continue in the next one, so it is searched for again with that block.
    """
    array: Any = imported("numpy", FEATURE, EXTRA)
    offset, held = 0, None
    upcoming = next(blocks, None)
    while upcoming is not None:
        samples = upcoming if held is None else array.concatenate([held, upcoming])
        upcoming = next(blocks, None)
        found = spans(offset, samples)
        cut = len(samples)
        if upcoming is not None:
            cut = max(0, len(samples) - _TAIL)
            if found and found[-1][1] > cut:
                cut = min(cut, found.pop()[0])
            elif found:
                cut = max(cut, found[-1][1])
        for start, end in found:
            yield offset + start, samples[start:end]
        offset, held = offset + cut, samples[cut:]


def placed(passage: RecognizedPassage, start: float) -> SpokenPassage:
    """Return a passage of the window that starts at `start` seconds, with times from the start of the recording."""
    words = [SpokenWord(start + each.start, start + each.end, each.text, each.confidence) for each in passage.words]
    return SpokenPassage(words=words, language=passage.language, is_doubtful=passage.is_doubtful)


def plain_passages(passages: Sequence[RecognizedPassage | SpokenPassage]) -> dict[str, object]:
    """Return passages as plain data for the cache."""
    return {"passages": [_plain(each) for each in passages]}


def passages_from(plain: dict[str, Any]) -> list[RecognizedPassage]:
    """Return the passages of a value from `plain_passages`."""
    return [
        RecognizedPassage([RecognizedWord(*word) for word in each["words"]], each["language"], each["is_doubtful"])
        for each in plain["passages"]
    ]


def _plain(passage: RecognizedPassage | SpokenPassage) -> dict[str, object]:
    words = [[each.start, each.end, each.text, each.confidence] for each in passage.words]
    return {"words": words, "language": passage.language, "is_doubtful": passage.is_doubtful}
