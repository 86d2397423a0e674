"""Answers questions with passages from ingested books, and lists the guardians."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.application.library.answers import AskRequest, ContextMode
from citekit.application.library.narrow_books import Narrowing
from citekit.container.library import Alexandria
from citekit.domain.errors import CollectionMissing, IndexCorrupt, IndexUnavailable, PersonaUnknown
from citekit.domain.library.personas import DEFAULT_GUARDIAN, FREE, NOBODY, Guardian, Pattern, compose
from citekit.domain.ports.personas import Personas
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library import rendering
from citekit.entrypoints.library.catalog import tags_in

Arguments = Mapping[str, Any]

LONGEST_ECHO = 300
"""The maximum number of characters of a question in an error."""


def query(library: Alexandria, arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the passages from books that answer a question, and the instruction for the answer.

    Raise the errors of the ledger, `NarrowTo`, and `Ask`, which `unanswered` converts to a result.
    """
    collection = arguments.get("collection") or library.chosen.collection
    narrowing = Narrowing(
        author=arguments.get("author"),
        title=arguments.get("title"),
        language=arguments.get("language"),
        tags=tags_in(arguments.get("tags")),
        resources=_resources(library, collection, arguments.get("resource_id")),
    )
    request = AskRequest(
        query=arguments["query"],
        collection=collection,
        limit=arguments["limit"],
        threshold=arguments["threshold"],
        mode=ContextMode.of(arguments["context_mode"]),
        where=library.narrow(narrowing, collection),
    )
    answers = library.ask(request)
    manner = instruction(library.personas, arguments["response_pattern"], arguments["guardian"])
    return {
        "query": request.query,
        **rendering.answers_card(answers, library.settings.home, arguments.get("max_chars")),
        **manner,
        "error": None,
    }


def _resources(library: Alexandria, collection: str, text: str | None) -> list[str]:
    """Return the resource IDs in a comma-separated list, which can also be one ID with commas."""
    if not text or not text.strip():
        return []
    if any(entry.resource_id == text for entry in library.ledger.books(collection)):
        return [text]
    return [name for each in text.split(",") if (name := each.strip())]


def unanswered(arguments: Arguments, error: BaseException) -> dict[str, Any]:
    """Return the result for a question that failed with `error`.

    The errors of every index begin with `Qdrant search failed`, as the contract of the library requires.
    """
    told = sentence(error)
    if isinstance(error, IndexUnavailable | IndexCorrupt | CollectionMissing):
        told = f"Qdrant search failed: {told}"
    mode = ContextMode.of(str(arguments.get("context_mode"))).value
    query = str(arguments.get("query") or "")
    return {
        "query": query if len(query) <= LONGEST_ECHO else f"{query[:LONGEST_ECHO]}...",
        "results": [],
        "result_count": 0,
        "context_mode": mode,
        "error": told,
    }


def instruction(personas: Personas, pattern_name: str, guardian_id: str) -> dict[str, Any]:
    """Return fields with the instruction for the answer, composed of a guardian and a pattern.

    An unknown guardian or pattern is left out; fields with an error and a note that lists the known ones are added.
    """
    found: dict[str, Any] = {}
    pattern = _pattern(personas, pattern_name, found)
    guardian = _guardian(personas, guardian_id, found)
    text = compose(guardian, pattern)
    if text is not None:
        found["response_instruction"] = text
    return found


def _pattern(personas: Personas, name: str, found: dict[str, Any]) -> Pattern | None:
    if name in ("", FREE):
        return None
    try:
        pattern = personas.pattern(name)
    except PersonaUnknown as error:
        found["response_pattern_error"] = str(error)
        known = (name for each in personas.patterns() for name in (each.category, each.id))
        found.setdefault("notes", []).append(f"The response patterns are: {', '.join(dict.fromkeys((FREE, *known)))}.")
        return None
    found["response_pattern"] = name
    found["suggested_temperature"] = pattern.temperature
    return pattern


def _guardian(personas: Personas, name: str, found: dict[str, Any]) -> Guardian | None:
    if name in ("", NOBODY):
        return None
    try:
        guardian = personas.guardian(name)
    except PersonaUnknown as error:
        found["guardian_error"] = str(error)
        names = (NOBODY, *(each.id for each in personas.guardians()))
        found.setdefault("notes", []).append(f"The guardians are: {', '.join(names)}.")
        return None
    found.update(guardian=guardian.id, guardian_name=guardian.name, guardian_emoji=guardian.emoji)
    return guardian


def guardians(library: Alexandria, _arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the guardians, and the ID of the default one."""
    cards = [rendering.guardian_card(guardian) for guardian in library.personas.guardians()]
    return {"guardians": cards, "default": DEFAULT_GUARDIAN, "count": len(cards), "error": None}
