"""What is known when a call to Gemini fails, and what became of it."""

from __future__ import annotations

from attrs import field, frozen

from citekit.domain.errors import MapperUnavailable

MODELS_PAGE = "https://ai.google.dev/gemini-api/docs/models"
KEYS_PAGE = "https://aistudio.google.com/apikey"
LIMITS_PAGE = "https://ai.google.dev/gemini-api/docs/rate-limits"

MESSAGE_LIMIT = 300
"""Characters of somebody else's words that are quoted."""


@frozen
class Scene:
    """What was being done, for the sentences: with which model, at which address, how long was waited.

    `variables` says where the key was looked for; `key` itself is only there to be kept out of every text.
    """

    model: str
    base_url: str
    timeout: float
    variables: str
    suggestion: str
    key: str = field(repr=False)


@frozen
class Trouble:
    """Our error for an exception, whether a retry may help and after how many seconds, and whether it timed out."""

    error: MapperUnavailable
    transient: bool
    retry_after: float | None = None
    timed_out: bool = False


def final(text: str, scene: Scene) -> Trouble:
    """A trouble that asking again does not mend."""
    return Trouble(told(text, scene), transient=False)


def told(text: str, scene: Scene) -> MapperUnavailable:
    """Our error with that text, in which the key never stands."""
    return MapperUnavailable(_without_key(text, scene))


def _without_key(text: str, scene: Scene) -> str:
    return text.replace(scene.key, "(the key)") if scene.key else text
