"""The instruction that a guardian and a pattern make together."""

from __future__ import annotations

from citekit.domain.library.personas import Guardian, Pattern, compose

GUARDIAN = Guardian(id="owl", name="Owl", title="", emoji="", role="", prompt=" Speak like an owl.\n")
PATTERN = Pattern(id="short", category="direct", name="Short", template="One sentence.\n", temperature=0.3)


def test_the_manner_of_the_guardian_comes_before_that_of_the_answer() -> None:
    assert "Speak like an owl.\n\n---\nRESPONSE PATTERN: One sentence." == compose(GUARDIAN, PATTERN)


def test_either_may_speak_alone() -> None:
    assert ["Speak like an owl.", "One sentence.", None] == [
        compose(GUARDIAN, None),
        compose(None, PATTERN),
        compose(None, None),
    ]
