"""Defines the words that a transcriber recognized in a recording."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

MIN_CONFIDENCE = 0.5
"""Words with a lower confidence are doubtful."""


@frozen
class SpokenWord:
    """A recognized word with its start and end in seconds, and its confidence from 0 to 1.

    `text` includes punctuation and, in languages that separate words by spaces, the space before the word.
    """

    start: float
    end: float
    text: str
    confidence: float


@frozen(kw_only=True)
class SpokenPassage:
    """Consecutive words in one language, about a sentence.

    `language` is a code of ISO 639-1. `is_doubtful` is true if the transcriber may have invented or badly misheard the
    passage. `voice` names the speaker, such as `Speaker 1`, or is empty.
    """

    words: Sequence[SpokenWord] = field(converter=tuple[SpokenWord, ...])
    language: str
    is_doubtful: bool = False
    voice: str = ""

    @property
    def start(self) -> float:
        """When the first word starts, in seconds."""
        return self.words[0].start

    @property
    def end(self) -> float:
        """When the last word ends, in seconds."""
        return self.words[-1].end

    @property
    def text(self) -> str:
        """The words as a text."""
        return "".join(word.text for word in self.words).strip()

    @property
    def confidence(self) -> float:
        """The mean confidence of the words, from 0 to 1."""
        return sum(word.confidence for word in self.words) / len(self.words)

    def doubts(self, word: SpokenWord) -> bool:
        """Return whether a word of the passage is doubtful."""
        return self.is_doubtful or word.confidence < MIN_CONFIDENCE


@frozen(kw_only=True)
class Speech:
    """Everything that was said in a recording. `transcriber` names the software and the model."""

    passages: Sequence[SpokenPassage] = field(converter=tuple[SpokenPassage, ...])
    transcriber: str


@frozen
class SpeechWindow:
    """A part of a recording with speech, at most half a minute: `start` in seconds, and the number of mono samples at
    16 kHz.
    """

    start: float
    samples: int


@frozen(kw_only=True)
class SpeechModelFacts:
    """Facts about a model that recognizes speech.

    `size` is in bytes, `publisher` is the repository of the files, and `where` is the folder of an installed model.
    `is_automatic` is true for the model that is used if the user chooses none.
    """

    name: str
    size: int
    languages: str
    license: str
    publisher: str
    where: str | None = None
    is_automatic: bool = False
