"""Whatever a file, a map, a library or an error says reaches a terminal without steering it, whichever command is asked."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import traceback
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.unicode_controls import in_json, printable
from citekit.entrypoints.cli.program import PROGRAM
from citekit.entrypoints.cli.terminal import guarded, shown, styled
from tests.cli.every_command import CALLS, STEERING, called, commands, make_home

OURS = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36)m")
"""The styles that commands give; those of the hostile words are others."""


def unseen(text: str) -> set[str]:
    """What steers or hides, by Unicode's categories; line ends are looked at elsewhere."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    found = {letter for letter in text if unicodedata.category(letter) in kinds or letter in "\u3164\U000e0102"}
    return found - {"\n", "\xad", "\u200c", "\u200d"}


class Screen(io.StringIO):
    """A terminal that remembers what it was sent."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("hostile"))


def test_every_command_is_called_here() -> None:
    assert sorted(CALLS) == sorted(commands(PROGRAM))


@pytest.mark.long
def test_no_command_lets_words_steer_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for command, calls in CALLS.items():
        for words in calls:
            _, out, err = called(home, (*command.split(), *words), monkeypatch, Screen())
            said += [out, err]
            assert (command, set()) == (command, unseen(OURS.sub("", out) + err)), words
            assert [] == [line for line in (out + err).splitlines() if line.startswith("FAKE")], command
            assert "An unexpected error" not in err, (command, words, err)

    assert r"\x1b[45mred" in "".join(said)
    assert r"\u202eturned" in "".join(said)


@pytest.mark.long
def test_documents_for_programs_show_all_and_lose_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, calls in CALLS.items():
        for words in calls[:1] if command != "serve" else ():
            _, out, _ = called(home, (*command.split(), *words, "--json"), monkeypatch)
            assert (command, set()) == (command, unseen(out))
            json.loads(out)

    _, document, _ = called(home, ("structure", "bees", "--json"), monkeypatch)
    assert STEERING == json.loads(document)["title"]


def test_what_anybody_else_prints_goes_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    with guarded():
        print(STEERING)
        print(STEERING, file=sys.stderr)
        logging.getLogger("somebody").warning("%s", STEERING)
        traceback.print_exception(ValueError(STEERING))
        sys.stdout.writelines([STEERING])

    out, err = capsys.readouterr()
    assert {"\t"} == unseen(out) | unseen(err)
    assert r"\x1b[45mred" in out
    assert r"\x1b[45mred" in err


def test_the_way_round_a_guard_is_closed() -> None:
    with guarded():
        assert not hasattr(sys.stdout, "buffer")


def test_a_style_is_ours_alone() -> None:
    assert "\x1b[1mbold\x1b[0m \\x1b[1mnot\\x1b[0m" == shown(f"{styled('bold', bold=True)} \x1b[1mnot\x1b[0m")


@pytest.mark.parametrize("text", ["می‌خواهم", "क्‍ष", "❤️‍🔥 👨‍👩‍👧 1️⃣", "naïve – «x»", "soft\xadhyphen", "狂人日记"])
def test_words_of_any_script_stay_as_they_are(text: str) -> None:
    assert text == printable(text) == shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u200db", r"a\u200db"),
        ("ب\u200c\u200c\u200cب", r"ب\u200c\u200c\u200cب"),
        ("x\ufe0f\ufe01\ufe02", "x\ufe0f" r"\ufe01\ufe02"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff", r"\udcff"),
    ],
)
def test_what_hides_among_letters_is_shown(text: str, expected: str) -> None:
    assert expected == printable(text)


@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from(STEERING)))
def test_nothing_unseen_is_left_of_any_text(text: str) -> None:
    assert set() == unseen(printable(text)) - {"\u200c", "\u200d"}
    assert printable(printable(text)) == printable(text)
    assert "\n" not in shown(text)


@given(st.text(st.sampled_from(STEERING + 'ab"\\\u0634\u200c')))
def test_a_document_says_the_same_with_all_of_it_shown(text: str) -> None:
    document = in_json(json.dumps({"a": text}, ensure_ascii=False))

    assert {"a": text} == json.loads(document)
    assert set() == unseen(document)
