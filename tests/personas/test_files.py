"""Guardians and patterns in files of a user's own: good ones, and ones that are passed over."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citekit.adapters.personas.markdown_files import SIZE_LIMIT, PersonaFiles

FULL = """\
---
title: a page of a site
alexandria:
  id: owl
  name: Owl
  title: The night reader
  emoji: "🦉"
  role: Watcher
  specialties: [dark, quiet]
  greeting: "Whoo? -- you?"
  quirks:
    - turns its head
  personality_prompt: >
    Speak like an owl: rarely, and to the point. Cite the passage that you saw, and
    --- do not forget ---
    say what the night hid from you. That is all that an owl has to say about it.
---
# Other: heading
"""


def made(folder: Path, name: str = "owl.md", text: str | bytes = FULL) -> PersonaFiles:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return PersonaFiles(folder)


def matter(lines: str) -> str:
    prompt = "personality_prompt: " + "Speak softly and cite. " * 6
    return f"---\nalexandria:\n  {prompt}\n  {lines}\n---\n"


def own(personas: PersonaFiles) -> list[str]:
    return sorted({each.id for each in personas.guardians()} - {each.id for each in PersonaFiles().guardians()})


def test_a_guardian_is_all_that_its_file_says(tmp_path: Path) -> None:
    owl = made(tmp_path).guardian("owl")

    assert ("Owl", "The night reader", "🦉", "Watcher", ("dark", "quiet"), "Whoo? -- you?", ("turns its head",)) == (
        owl.name,
        owl.title,
        owl.emoji,
        owl.role,
        owl.specialties,
        owl.greeting,
        owl.quirks,
    )
    assert "--- do not forget ---" in owl.prompt


@pytest.mark.parametrize(
    "ending", ["\n---\n", "\n--- \t\n", "\r\n---\r\n", "\n---"], ids=["plain", "spaces", "windows", "end of file"]
)
def test_only_three_dashes_alone_on_a_line_end_the_front_matter(tmp_path: Path, ending: str) -> None:
    text = FULL.partition("\n---\n#")[0].replace("\n", "\r\n" if "\r" in ending else "\n") + ending

    assert "say what the night hid from you" in made(tmp_path, text="\ufeff" + text).guardian("owl").prompt


@pytest.mark.parametrize(
    ("body", "name", "title"),
    [
        ("# 🦉 Owl of Minerva: a guardian\n**Late flyer**\n", "Owl of Minerva", "Late flyer"),
        ("## No\n# 🗝️ Élan\ntext **bold** in it\n", "Élan", ""),
        ("text\n", "Night-Owl", ""),
    ],
)
def test_a_name_falls_back_to_the_heading_and_the_id(tmp_path: Path, body: str, name: str, title: str) -> None:
    owl = made(tmp_path, text=matter("id: night_owl") + body).guardian("night_owl")

    assert (name, title, "", ()) == (owl.name, owl.title, owl.emoji, owl.specialties)


BAD: dict[str, tuple[str | bytes, str]] = {
    "bad yaml": ("---\nalexandria: [\n---\n", "the front matter is not valid YAML"),
    "tab": ("---\nalexandria:\n\tid: x\n---\n", "the front matter is not valid YAML"),
    "no id": (matter("name: x"), "must contain 'id' and 'personality_prompt'"),
    "no prompt": ("---\nalexandria:\n  id: x\n---\n", "must contain 'id' and 'personality_prompt'"),
    "a number": (matter("id: 12"), "alexandria.id: must be a string, not int"),
    "a date": (matter("id: x\n  name: 2020-01-01"), "alexandria.name: must be a string"),
    "no such date": (matter("id: x\n  name: 2020-99-99"), "an invalid number or date"),
    "a text for a list": (matter("id: x\n  quirks: many"), "alexandria.quirks: must be a list"),
    "a list of numbers": (matter("id: x\n  quirks: [1]"), "alexandria.quirks: must be a list of strings"),
    "a list": ("---\nalexandria: [1]\n---\n", "must be a mapping"),
    "no name for a file": (matter("id: ../x"), "is not a valid ID"),
    "upper case": (matter("id: Owl"), "is not a valid ID"),
    "the one for nobody": (matter("id: none"), "is not a valid ID"),
    "an alias": (matter("id: &a x\n  name: *a"), "anchors or aliases"),
    "an object": (matter("id: !!python/object:os.system x"), "tag or key that is not plain data"),
    "two documents": ("---\nalexandria: {id: x}\n...\n%YAML 1.1\n---\n", "the front matter is not valid YAML"),
    "deep": ("---\nalexandria: " + "[" * 5000 + "\n---\n", "nested too deeply"),
    "long number": (matter("id: x\n  name: " + "9" * 5000), "an invalid number or date"),
    "control characters": (matter("id: x\n  name: \x07"), "characters that YAML does not allow"),
    "not UTF-8": (matter("id: x\n  name: é").encode("latin-1"), "is not valid UTF-8"),
    "UTF-16": (matter("id: x").encode("utf-16"), "is not valid UTF-8"),
    "huge": (matter("id: x") + "x" * SIZE_LIMIT, "bytes"),
    "open": (matter("id: x").removesuffix("---\n"), "the front matter has no end"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_named_once_with_the_reason_and_hides_nothing(
    tmp_path: Path, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    text, reason = BAD[case]
    made(tmp_path)
    personas = made(tmp_path, "bad.md", text)

    with caplog.at_level(logging.WARNING):
        found = own(personas)
        personas.patterns()

    assert ["owl"] == found
    (message,) = [record.getMessage() for record in caplog.records]
    assert str(tmp_path / "bad.md") in message
    assert reason in message


def test_a_bomb_of_aliases_is_not_unfolded(tmp_path: Path) -> None:
    levels = "\n".join(f"  b{level}: &b{level} [{', '.join([f'*b{level - 1}'] * 9)}]" for level in range(1, 30))

    assert [] == own(made(tmp_path, text=f"---\nalexandria:\n  id: x\n  b0: &b0 lol\n{levels}\n---\n"))


@pytest.mark.parametrize("text", ["", "# Notes\n", "---\n", "---\ntitle: x\n---\n", "---\n- x\n---\n", "----\nx\n"])
def test_a_file_about_something_else_is_passed_over_in_silence(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    personas = made(tmp_path, text=text)

    with caplog.at_level(logging.WARNING):
        assert [] == own(personas)

    assert [] == caplog.records


def test_of_two_files_with_one_id_the_first_by_name_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made(tmp_path, "a.md")
    personas = made(tmp_path, "b.md", FULL.replace("name: Owl", "name: Second"))

    with caplog.at_level(logging.WARNING):
        name = personas.guardian("owl").name

    assert "Owl" == name
    assert ["b.md"] == [name for name in ("a.md", "b.md") if name in caplog.text]


def test_a_file_of_the_user_overrides_a_shipped_guardian(tmp_path: Path) -> None:
    personas = made(tmp_path, text=FULL.replace("id: owl", "id: zec"))

    assert "Owl" == personas.guardians()[0].name
    assert 11 == len(personas.guardians())


@pytest.mark.long
def test_changes_are_seen_without_a_restart(tmp_path: Path) -> None:
    personas = PersonaFiles(tmp_path / "later")
    seen = [own(personas)]
    (tmp_path / "later").mkdir()
    made(tmp_path / "later")
    seen.append(own(personas))
    made(tmp_path / "later", text=FULL.replace("id: owl", "id: barn_owl"))
    seen.append(own(personas))
    (tmp_path / "later" / "owl.md").unlink()
    seen.append(own(personas))

    assert [[], ["owl"], ["barn_owl"], []] == seen


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path) -> None:
    personas = made(tmp_path)

    assert personas.guardian("owl") is personas.guardian("owl")
    assert personas.patterns() is personas.patterns()


@pytest.mark.long
def test_threads_may_ask_while_files_change(tmp_path: Path) -> None:
    personas = made(tmp_path)

    def ask(number: int) -> str:
        made(tmp_path, f"{number}.md", "# nothing\n")
        return personas.guardian("owl").name

    with ThreadPoolExecutor(8) as pool:
        assert {"Owl"} == set(pool.map(ask, range(64)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_or_a_folder_is_no_guardian(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()

    assert ["owl"] == own(made(tmp_path))


def patterns_of(folder: Path, plain: object) -> PersonaFiles:
    return made(folder, "patterns.json", plain if isinstance(plain, bytes) else json.dumps(plain))


def item(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "name": name.title(), "template": f"Do {name}.", "temperature": 0.5, **more}


def test_patterns_of_the_user_add_and_override(tmp_path: Path) -> None:
    plain = {"direct": [item("tldr"), item("plain", min_sources=2, rag_mode="soft", note="n")], "mine": [item("new")]}

    personas = patterns_of(tmp_path, plain)

    direct = [each.id for each in personas.patterns() if each.category == "direct"]
    assert ["tldr", "just_answer", "plain"] == direct
    assert ("Do tldr.", "direct") == (personas.pattern("tldr").template, personas.pattern("tldr").category)
    plain_one = personas.pattern("plain")
    assert (2, "soft", "n") == (plain_one.min_sources, plain_one.rag_mode, plain_one.note)
    assert "new" == personas.pattern("mine").id == personas.patterns()[-1].id
    assert 16 == len(personas.patterns())


BAD_ITEMS = {
    "no template": {"id": "x", "temperature": 0.1},
    "no temperature": {"id": "x", "template": "t"},
    "a true temperature": item("x", temperature=True),
    "hot": item("x", temperature=3),
    "not finite": item("x", temperature=float("nan")),
    "no id": {"template": "t", "temperature": 0.1},
    "the id of no pattern": item("free"),
    "half a source": item("x", min_sources=0.5),
    "a list": [],
    "twice": item("good"),
}


@pytest.mark.parametrize("case", BAD_ITEMS)
def test_a_bad_pattern_is_named_and_hides_no_other(tmp_path: Path, case: str, caplog: pytest.LogCaptureFixture) -> None:
    personas = patterns_of(tmp_path, {"mine": [item("good"), BAD_ITEMS[case]]})

    with caplog.at_level(logging.WARNING):
        mine = [each.id for each in personas.patterns() if each.category == "mine"]

    assert ["good"] == mine
    (message,) = [record.getMessage() for record in caplog.records]
    assert "mine[1]" in message


@pytest.mark.parametrize("plain", [b"{", b"[]", b'{"a": 1}', b'{"free": []}', b"\xff", b"[" * 100_000])
def test_a_bad_file_of_patterns_leaves_the_shipped_ones(
    tmp_path: Path, plain: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    personas = patterns_of(tmp_path, plain)

    with caplog.at_level(logging.WARNING):
        count = len(personas.patterns())

    assert (14, 1) == (count, len(caplog.records))
    assert "patterns.json" in caplog.text
