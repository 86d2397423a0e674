"""Offers the guardians as MCP prompts `guardian_<id>`, with an optional question."""

from __future__ import annotations

from mcp_types import GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, TextContent

from citekit.domain.errors import PersonaUnknown, RequestRefused
from citekit.domain.library.personas import Guardian
from citekit.domain.ports.personas import Personas

PREFIX = "guardian_"
QUESTION = "question"
LONGEST_QUESTION = 10_000


def listing(personas: Personas) -> ListPromptsResult:
    """Return the list of prompts, one for each guardian."""
    return ListPromptsResult(prompts=[_prompt(guardian) for guardian in personas.guardians()])


def _prompt(guardian: Guardian) -> Prompt:
    asked = PromptArgument(name=QUESTION, description="The first question to ask the library.", required=False)
    title = " ".join(part for part in (guardian.emoji, guardian.name) if part)
    description = ": ".join(part for part in (guardian.title, guardian.role) if part)
    return Prompt(name=f"{PREFIX}{guardian.id}", title=title, description=description or None, arguments=[asked])


def filled(personas: Personas, name: str, arguments: dict[str, str] | None) -> GetPromptResult:
    """Return the prompt `name` as a user message.

    Raise `PersonaUnknown` if there is no such prompt, or `RequestRefused` if an argument is unknown or the question has
    more than `LONGEST_QUESTION` characters.
    """
    if not name.startswith(PREFIX):
        raise PersonaUnknown(f"There is no prompt {name[:80]!r}. Call prompts/list for the available prompts.")
    guardian = personas.guardian(name.removeprefix(PREFIX))
    unknown = [each for each in arguments or {} if each != QUESTION]
    if unknown:
        raise RequestRefused(f"{unknown[0][:80]!r} is not an argument of {name}. Valid arguments: {QUESTION}.")
    message = PromptMessage(role="user", content=TextContent(text=_text(guardian, (arguments or {}).get(QUESTION, ""))))
    return GetPromptResult(description=guardian.title or guardian.name, messages=[message])


def _text(guardian: Guardian, question: str) -> str:
    call = f'alexandria_query with guardian: "{guardian.id}"'
    if len(question) > LONGEST_QUESTION:
        raise RequestRefused(
            f"The question has {len(question):,} characters. The maximum is {LONGEST_QUESTION:,}. Shorten it."
        )
    if not question.strip():
        task = f"Greet me in one sentence. Then answer my questions from the library, using {call}."
    else:
        task = (
            f"Answer this question from the library, using {call}. Cite the address of each passage that "
            "you use.\n\n"
            f"{question}"
        )
    return f"{guardian.prompt}\n\n{task}"
