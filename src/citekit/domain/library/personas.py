"""Defines guardians and patterns: a guardian gives answers a voice, and a pattern gives them a form."""

from __future__ import annotations

from attrs import field, frozen

DEFAULT_GUARDIAN = "zec"
"""The ID of the default guardian."""

NOBODY = "none"
"""The name that requests no guardian."""

FREE = "free"
"""The name that requests no pattern."""

PROMPT_LENGTH = (100, 800)
"""Recommended minimum and maximum length of a guardian's prompt in characters."""


@frozen(kw_only=True)
class Guardian:
    """A personality that a model adopts for its answers.

    `id` matches `^[a-z][a-z0-9_]*$`. `prompt` describes the guardian's voice.
    """

    id: str
    name: str
    title: str
    emoji: str
    role: str
    specialties: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    greeting: str = ""
    quirks: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    prompt: str = ""


@frozen(kw_only=True)
class Pattern:
    """A form for answers. `template` is the instruction for the model, and `temperature` the recommended sampling
    temperature.
    """

    id: str
    category: str
    name: str
    template: str
    temperature: float
    use_case: str = ""
    max_temperature: float | None = None
    min_sources: int | None = None
    rag_mode: str | None = None
    note: str | None = None


def compose(guardian: Guardian | None, pattern: Pattern | None) -> str | None:
    """Return an instruction for the model: the guardian's prompt followed by the pattern's template.

    Return None if there is neither.
    """
    parts = []
    if guardian is not None:
        parts.append(guardian.prompt.strip())
    if pattern is not None:
        parts.append(f"---\nRESPONSE PATTERN: {pattern.template.strip()}" if parts else pattern.template.strip())
    return "\n\n".join(parts) or None
