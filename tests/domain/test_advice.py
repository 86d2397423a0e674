"""Tests the remedies in messages that several use cases share."""

from __future__ import annotations

import pytest

from citekit.domain.library.vectors import EmbedderIdentity, model_mismatch
from citekit.domain.recognition import scan_advice, speech_advice


@pytest.mark.parametrize(
    ("version", "is_off", "said"),
    [
        ("rapidocr 3", False, "OCR recognized no text"),
        ("", True, "CITEKIT_OCR to on"),
        ("", False, "citekit-evidence[ocr]"),
    ],
)
def test_advice_about_a_scan_names_what_is_missing(version: str, is_off: bool, said: str) -> None:
    assert said in scan_advice(version, is_off=is_off)


@pytest.mark.parametrize(
    ("is_off", "is_installed", "said"),
    [
        (True, True, "CITEKIT_SPEECH to on"),
        (False, True, "download a multilingual model"),
        (False, False, "citekit-evidence[speech]"),
    ],
)
def test_advice_about_speech_names_what_is_missing(is_off: bool, is_installed: bool, said: str) -> None:
    assert said in speech_advice(is_off=is_off, is_installed=is_installed)


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("wordllama-l2-supercat", "Set CITEKIT_EMBEDDER to fast, use another collection, or rebuild"),
        ("openai:text-embedding-3-small", "Set CITEKIT_EMBEDDER to openai:text-embedding-3-small, use"),
        ("onnx:folder", "Set CITEKIT_EMBEDDER to the embedder of that model, use another collection, or"),
        (
            "hashing",
            "dimensions). Use another collection, or rebuild this one: citekit library rebuild --collection books",
        ),
    ],
)
def test_a_collection_of_another_embedder_names_the_setting_of_its_own(stored: str, said: str) -> None:
    wanted = EmbedderIdentity("hashing", "2", 512)

    error = model_mismatch("books", EmbedderIdentity(stored, "1", 256), wanted)

    assert said in str(error)
