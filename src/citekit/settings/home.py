"""Finds the home folder without loading the settings, for commands that must start fast."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from citekit.settings.places import home_named
from citekit.settings.variables import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

TAKEN_AS_WRITTEN = frozenset(
    {
        "CITEKIT_HOME",
        "CITEKIT_MAPPER",
        "CITEKIT_MODEL",
        "CITEKIT_BASE_URL",
        "CITEKIT_SPEECH_URL",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "CITEKIT_EMBEDDER",
        "QDRANT_COLLECTION",
        "QDRANT_URL",
        "QDRANT_HOST",
        "QDRANT_API_KEY",
    }
)
"""Common variables whose values `settings_from` does not check."""


def home_of(environment: Mapping[str, str], home: str | None = None) -> str:
    """Return the absolute path of the home folder, and raise the errors of `settings_from`.

    The settings are loaded only if a variable may be invalid or the path begins with `~`.
    """
    named = home_named(environment, home)
    checked = any(environment.get(name) for name in VARIABLES if name not in TAKEN_AS_WRITTEN)
    if checked or named.startswith("~"):
        from citekit.settings.chosen import settings_from

        return str(settings_from(environment, home).home)
    return os.path.abspath(named)  # noqa: PTH100 - importing pathlib would slow each start by 3 ms
