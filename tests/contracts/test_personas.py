"""What every Personas promises, and what the shipped ones are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from citekit.adapters.personas.markdown_files import PersonaFiles
from citekit.domain.errors import PersonaUnknown
from citekit.domain.library.personas import DEFAULT_GUARDIAN, FREE, NOBODY, PROMPT_LENGTH
from citekit.domain.ports.personas import Personas

OWL = "---\nalexandria:\n  id: owl\n  personality_prompt: Speak like an owl.\n---\n# The Owl: a bird\n"
EXTRA = '{"slow": [{"id": "slowly", "template": "Take your time.", "temperature": 0.1}]}'


def shipped(_: Path) -> Personas:
    return PersonaFiles()


def with_own(folder: Path) -> Personas:
    (folder / "owl.md").write_text(OWL, "utf-8")
    (folder / "patterns.json").write_text(EXTRA, "utf-8")
    return PersonaFiles(folder)


@pytest.fixture(params=[shipped, with_own])
def personas(request: pytest.FixtureRequest, tmp_path: Path) -> Personas:
    make: Callable[[Path], Personas] = request.param
    return make(tmp_path)


def test_ids_are_unique_and_the_default_comes_first(personas: Personas) -> None:
    ids = [guardian.id for guardian in personas.guardians()]

    assert [DEFAULT_GUARDIAN, *sorted(set(ids) - {DEFAULT_GUARDIAN})] == ids


def test_every_guardian_is_found_by_its_id(personas: Personas) -> None:
    for guardian in personas.guardians():
        assert guardian == personas.guardian(guardian.id)
        assert re.fullmatch("[a-z][a-z0-9_]*", guardian.id)
        assert guardian.name
        assert guardian.prompt


def test_every_pattern_is_found_by_its_id_and_the_first_by_its_category(personas: Personas) -> None:
    patterns = personas.patterns()
    categories = list(dict.fromkeys(pattern.category for pattern in patterns))

    assert len(patterns) == len({pattern.id for pattern in patterns})
    assert sorted(patterns, key=lambda each: categories.index(each.category)) == list(patterns)
    assert [personas.pattern(each.id) for each in patterns if each.id not in categories] == [
        each for each in patterns if each.id not in categories
    ]
    for category in categories:
        assert personas.pattern(category) == next(each for each in patterns if each.category == category)


@pytest.mark.parametrize("name", ["", "nobody", NOBODY, FREE, "../zec", "ZEC"])
def test_what_is_not_there_is_called_unknown(personas: Personas, name: str) -> None:
    with pytest.raises(PersonaUnknown, match=f"^Unknown guardian: {re.escape(name)}$"):
        personas.guardian(name)
    with pytest.raises(PersonaUnknown, match=f"^Unknown pattern: {re.escape(name)}$"):
        personas.pattern(name)


def test_eleven_guardians_are_shipped_each_complete() -> None:
    guardians = PersonaFiles().guardians()

    assert [
        "zec", "abacus", "alan_kay", "ariadne", "dragoman", "hector", "hipatija", "klepac", "lupita", "scholia", "vault_e"
    ] == [guardian.id for guardian in guardians]  # fmt: skip
    for guardian in guardians:
        assert all(
            [guardian.title, guardian.emoji, guardian.role, guardian.greeting, guardian.specialties, guardian.quirks]
        )
        assert PROMPT_LENGTH[0] <= len(guardian.prompt) <= PROMPT_LENGTH[1]
        assert "\n" not in guardian.prompt


def test_the_patterns_of_the_contract_are_shipped_with_their_temperatures() -> None:
    patterns = PersonaFiles().patterns()

    assert {
        "synthesis": {"cross_perspective": 0.7, "theory_to_practice": 0.7, "build_mental_model": 0.6},
        "extraction": {"key_principles": 0.3, "actionable_steps": 0.4, "tldr": 0.3},
        "critical": {"find_contradictions": 0.4, "steel_man": 0.5, "assumptions": 0.5},
        "creative": {"what_if": 0.9, "devil_advocate": 0.7},
        "direct": {"just_answer": 0.3},
        "diagnostic": {"source_coverage": 0.2, "retrieval_gaps": 0.2},
    } == {
        category: {each.id: each.temperature for each in patterns if each.category == category}
        for category in dict.fromkeys(each.category for each in patterns)
    }
    assert ["devil_advocate"] == [each.id for each in patterns if each.rag_mode == "soft" and each.note]
