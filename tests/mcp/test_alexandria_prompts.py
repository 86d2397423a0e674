"""Guardians as prompts of the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptResult, Prompt, TextContent

from tests.mcp.library_home import LibraryHome

OWL = "---\nalexandria:\n  id: owl\n  name: Owl\n  personality_prompt: {}\n---\n".format("Speak like an owl. " * 8)


def text(result: GetPromptResult) -> str:
    (message,) = result.messages
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_guardian_is_a_prompt(tmp_path: Path, mode: str) -> None:
    async def work(client: Client) -> list[Prompt]:
        return (await client.list_prompts()).prompts

    prompts = LibraryHome(tmp_path).ask(work, mode)

    assert (11, "guardian_zec", "🐇 Zec") == (len(prompts), prompts[0].name, prompts[0].title)
    assert all(prompt.description for prompt in prompts)
    assert {("question", False)} == {
        (each.name, each.required) for prompt in prompts for each in prompt.arguments or ()
    }


def test_a_prompt_carries_the_manner_and_the_question(tmp_path: Path) -> None:
    async def work(client: Client) -> tuple[str, str]:
        asked = await client.get_prompt("guardian_hipatija", {"question": "Is the void empty?"})
        return text(asked), text(await client.get_prompt("guardian_hipatija"))

    asked, bare = LibraryHome(tmp_path).ask(work)

    assert asked.startswith("You are Hipatija")
    assert asked.endswith("Is the void empty?")
    assert 'alexandria_query with guardian: "hipatija"' in asked
    assert bare.startswith("You are Hipatija")
    assert "Greet me" in bare


def test_a_guardian_of_the_user_becomes_a_prompt_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "guardians"
    folder.mkdir()

    async def work(client: Client) -> list[int]:
        before = len((await client.list_prompts()).prompts)
        (folder / "owl.md").write_text(OWL)
        return [before, len((await client.list_prompts(cache_mode="bypass")).prompts)]

    assert [11, 12] == LibraryHome(tmp_path, environment={"GUARDIANS_DIR": str(folder)}).ask(work)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("guardian_nobody", None, "Unknown guardian: nobody"),
        ("zec", None, "There is no prompt 'zec'"),
        ("guardian_zec", {"query": "x"}, "'query' is not an argument"),
        ("guardian_zec", {"question": "x" * 20_000}, "maximum is 10,000"),
    ],
)
def test_a_prompt_that_cannot_be_given_is_an_error_of_the_protocol(
    tmp_path: Path, name: str, arguments: dict[str, str] | None, told: str
) -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
        return str(caught.value)

    assert told in LibraryHome(tmp_path).ask(work)


def test_there_are_no_prompts_without_the_library(tmp_path: Path) -> None:
    async def work(client: Client) -> bool:
        return client.server_capabilities.prompts is None

    assert LibraryHome(tmp_path, environment={"CITEKIT_TOOLS": "citekit"}).ask(work)
