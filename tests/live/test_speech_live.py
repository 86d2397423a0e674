"""Transcription by the real services; each runs only where its key is set, and sends one window of five seconds."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from citekit.container import bootstrap
from citekit.settings import settings_from
from tests.formats.media.speech_samples import CLIP, SAID, needs_speech, source_at
from tests.live.__main__ import GEMINI_SPEECH, OPENAI_SPEECH

pytestmark = needs_speech

SECONDS = 6  # one window has 5.3 s, so a second request would exceed the budget


def words_in(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.skipif(not os.environ.get("OPENAI_API_KEY"), reason="OPENAI_API_KEY is not set")
def test_openai_hears_the_words_and_their_times(tmp_path: Path) -> None:
    heard = _heard(f"openai:{OPENAI_SPEECH.model}", tmp_path)

    assert len(heard) > 10, "each word has its own time"
    assert words_in(SAID) == words_in("".join(heard))


@pytest.mark.skipif(not os.environ.get("GEMINI_API_KEY"), reason="GEMINI_API_KEY is not set")
def test_gemini_hears_the_words(tmp_path: Path) -> None:
    assert words_in(SAID) == words_in("".join(_heard(f"gemini:{GEMINI_SPEECH.model}", tmp_path)))


def _heard(model: str, home: Path) -> list[str]:
    chosen = {"CITEKIT_SPEECH_MODEL": model, "CITEKIT_SPEECH_SECONDS": str(SECONDS), "CITEKIT_SPEECH_LANGUAGE": "en"}
    transcriber = bootstrap(settings_from({**os.environ, **chosen}, home)).asked_transcriber
    assert transcriber is not None
    return [word.text for passage in transcriber.transcribe(source_at(CLIP)).passages for word in passage.words]
