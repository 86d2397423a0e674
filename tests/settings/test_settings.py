"""Settings are read once from the environment, and every variable is documented."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from citekit.domain.errors import RequestRefused
from citekit.settings import read_size, settings_from

DOCS = Path(__file__).parents[2] / "docs"


def test_nothing_set_gives_the_defaults() -> None:
    chosen = settings_from({}, "/somewhere")

    assert (Path("/somewhere"), "auto", 10_000_000_000) == (chosen.home, chosen.mapper, chosen.cache_limit)
    assert (Path("/somewhere/.resource_maps"), "pyav", 3) == (chosen.maps_folder, chosen.media, chosen.retries)


def test_every_variable_counts() -> None:
    chosen = settings_from(
        {
            "CITEKIT_HOME": "/home",
            "CITEKIT_MAPPER": "local",
            "CITEKIT_MODEL": "m",
            "CITEKIT_BASE_URL": "http://127.0.0.1:1/v1",
            "CITEKIT_RETRIES": "0",
            "CITEKIT_TIMEOUT": "7",
            "CITEKIT_MAX_REQUESTS": "5",
            "CITEKIT_TEMPERATURE": "0.5",
            "CITEKIT_THINKING": "low",
            "CITEKIT_MAX_OUTPUT": "9000",
            "CITEKIT_CACHE_LIMIT": "1.5M",
            "CITEKIT_ROOTS": "/a:/b",
            "CITEKIT_CONCURRENCY": "9",
            "CITEKIT_MODEL_CONCURRENCY": "3",
            "CITEKIT_MEDIA": "ffmpeg",
            "CITEKIT_PASSWORD": "p",
            "CITEKIT_OCR": "off",
            "GOOGLE_API_KEY": "g",
            "OPENAI_API_KEY": "o",
        }
    )

    assert (Path("/home"), "local", "m", "http://127.0.0.1:1/v1") == (
        chosen.home,
        chosen.mapper,
        chosen.model,
        chosen.base_url,
    )
    assert (0, 7.0, 5, 1_500_000) == (chosen.retries, chosen.timeout, chosen.max_requests, chosen.cache_limit)
    assert (3, 8) == (chosen.model_concurrency, settings_from({}).model_concurrency)
    assert (0.5, "low", 9000) == (chosen.temperature, chosen.thinking, chosen.max_output)
    assert ((Path("/a"), Path("/b")), 9, "ffmpeg") == (chosen.roots, chosen.concurrency, chosen.media)
    assert ("g", "o", "p", False) == (chosen.gemini_key, chosen.openai_key, chosen.password, chosen.ocr)


def test_keys_are_never_shown() -> None:
    chosen = settings_from({"GEMINI_API_KEY": "secret-1", "OPENAI_API_KEY": "secret-2", "CITEKIT_PASSWORD": "secret-3"})

    assert "secret" not in repr(chosen)


@pytest.mark.parametrize(
    "environment",
    [
        {"CITEKIT_CACHE_LIMIT": "much"},
        {"CITEKIT_CACHE_LIMIT": "-1G"},
        {"CITEKIT_CONCURRENCY": "0"},
        {"CITEKIT_RETRIES": "-1"},
        {"CITEKIT_TIMEOUT": "soon"},
        {"CITEKIT_MEDIA": "vlc"},
        {"CITEKIT_OCR": "perhaps"},
        {"CITEKIT_SPEECH": "perhaps"},
        {"CITEKIT_SPEECH_LANGUAGE": "English"},
        {"CITEKIT_SPEECH_MODEL": "openai:"},
        {"CITEKIT_SPEECH_SECONDS": "0"},
        {"CITEKIT_SPEAKERS": "perhaps"},
    ],
)
def test_a_value_that_is_none_is_refused_by_name(environment: dict[str, str]) -> None:
    with pytest.raises(RequestRefused) as refusal:
        settings_from(environment)

    assert next(iter(environment.values())) in str(refusal.value)


def test_too_little_memory_for_parsers_to_start_is_refused_with_the_least() -> None:
    with pytest.raises(RequestRefused, match=r"CITEKIT_PARSER_MEMORY='20000000' is too small. The minimum is 100M\."):
        settings_from({"CITEKIT_PARSER_MEMORY": "20000000"})

    assert 100_000_000 == settings_from({"CITEKIT_PARSER_MEMORY": "100M"}).parser_memory


@pytest.mark.parametrize(
    ("text", "size"), [("123456", 123456), ("500M", 500_000_000), ("2gb", 2 * 10**9), ("1T", 10**12)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert size == read_size(text)


def test_the_settings_page_contains_the_current_table_of_variables() -> None:
    page = runpy.run_path(str(DOCS / "generate_settings.py"))["page"]()

    written = (DOCS / "reference" / "settings.md").read_text("utf-8")

    assert page == written, "run: python docs/generate_settings.py"
