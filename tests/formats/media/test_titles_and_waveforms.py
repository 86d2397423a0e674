"""Titles made of spoken words, and the waveform of a recording whose sound cannot be played."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from citekit.adapters.formats.media import waveform as module
from citekit.adapters.formats.media.outline.time_segments import title_from_text


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is this here? It is a cat. More", "What is this here?"),
        ("Yes. What is this here? It is a cat.", "Yes. What is this here?"),
        ("It is a cat! Is it? More", "It is a cat! Is it?"),
        ("A short text", "A short text"),
    ],
)
def test_a_title_ends_with_the_first_sentence_that_is_long_enough(text: str, title: str) -> None:
    assert title == title_from_text(text)


def test_sound_that_cannot_be_played_has_no_waveform(monkeypatch: pytest.MonkeyPatch) -> None:
    container = SimpleNamespace(streams=SimpleNamespace(audio=[SimpleNamespace(codec_context=None)]))
    monkeypatch.setattr(module, "open_media", lambda path: nullcontext(container))

    assert [] == module.waveform(Path("a.mka"), 10)
