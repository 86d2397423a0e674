"""Who speaks for the library, and in which manner an answer is given."""

from __future__ import annotations

from attrs import field, frozen

DEFAULT_GUARDIAN = "zec"
"""Who speaks where nobody is named."""

NOBODY = "none"
"""The name by which a caller wants no guardian; no guardian has this id."""

FREE = "free"
"""The name by which a caller wants no pattern; no pattern has this id, and no category this name."""

PROMPT_LENGTH = (100, 800)
"""Characters of a guardian's prompt, from and to: enough for a character, and little beside the passages."""


@frozen(kw_only=True)
class Guardian:
    """A persona that flavours answers. `id` is `^[a-z][a-z0-9_]*$`; `prompt` says how it speaks, in 100 to 800 characters."""

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
    """A manner of answering: `template` is the instruction, `temperature` the one that suits it, `category` its family."""

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
    """The instruction for the author of the answer: the guardian's manner, then the pattern's; None without both."""
    parts = []
    if guardian is not None:
        parts.append(guardian.prompt.strip())
    if pattern is not None:
        parts.append(f"---\nRESPONSE PATTERN: {pattern.template.strip()}" if parts else pattern.template.strip())
    return "\n\n".join(parts) or None
