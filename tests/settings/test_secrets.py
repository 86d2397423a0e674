"""Keys and passwords are read from variables or private files, and stand in nothing that is shown."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.cli.session import write_json
from citekit.settings import VARIABLES, settings_from
from citekit.settings.secrets import (
    FILE_LIMIT,
    IN_FILES,
    SUFFIX,
    concealed,
    concealed_in_json,
    remember,
    remember_address,
    without_user,
)

FIELDS = {
    "GEMINI_API_KEY": lambda chosen: chosen.gemini_key,
    "GOOGLE_API_KEY": lambda chosen: chosen.gemini_key,
    "OPENAI_API_KEY": lambda chosen: chosen.openai_key,
    "QDRANT_API_KEY": lambda chosen: chosen.library.qdrant_key,
    "CITEKIT_PASSWORD": lambda chosen: chosen.password,
    "CITEKIT_LINK_KEY": lambda chosen: chosen.link_key,
    "CITEKIT_RERANKER_KEY": lambda chosen: chosen.library.reranker_key,
}


def private(path: Path, data: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("name", IN_FILES)
def test_a_secret_is_read_from_a_private_file(tmp_path: Path, name: str) -> None:
    path = private(tmp_path / "key", b"a key of mine that is long enough for links\n", 0o400)

    assert "a key of mine that is long enough for links" == FIELDS[name](
        settings_from({name + SUFFIX: str(path)}, tmp_path)
    )


def test_every_secret_has_a_documented_file() -> None:
    assert {name for name in VARIABLES if re.search("API_KEY|PASSWORD|LINK_KEY|RERANKER_KEY", name)} == {
        each for name in IN_FILES for each in (name, name + SUFFIX)
    }


def test_a_key_for_links_that_could_be_guessed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match="CITEKIT_LINK_KEY must have at least 32 random characters"):
        settings_from({"CITEKIT_LINK_KEY": "secret"}, tmp_path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o777])
def test_a_file_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = private(tmp_path / "key", b"canary-in-the-file", mode)

    with pytest.raises(
        RequestRefused, match=r"OPENAI_API_KEY_FILE: other users can access the file .*\. Run: chmod 600"
    ) as told:
        settings_from({"OPENAI_API_KEY_FILE": str(path)}, tmp_path)

    assert "canary" not in str(told.value)


def test_a_link_is_held_to_the_file_that_it_leads_to(tmp_path: Path) -> None:
    good, bad = private(tmp_path / "good", b"mine-alone"), private(tmp_path / "bad", b"everybody", 0o644)
    (tmp_path / "a").symlink_to(good)
    (tmp_path / "b").symlink_to(bad)

    assert "mine-alone" == settings_from({"OPENAI_API_KEY_FILE": str(tmp_path / "a")}, tmp_path).openai_key
    with pytest.raises(RequestRefused, match="other users can access"):
        settings_from({"OPENAI_API_KEY_FILE": str(tmp_path / "b")}, tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = private(tmp_path / "key", b"planted")
    os.chown(path, 12345, 12345)

    with pytest.raises(RequestRefused, match="belongs to another user"):
        settings_from({"OPENAI_API_KEY_FILE": str(path)}, tmp_path)


@pytest.mark.parametrize(
    "data", [b"", b"\n \n", b"two\nlines", b"\xff\xfe", b"a\x00b", b"\x1b[31m", b"x" * (FILE_LIMIT + 1)]
)
def test_what_is_no_line_of_text_is_refused(tmp_path: Path, data: bytes) -> None:
    path = private(tmp_path / "key", data)

    with pytest.raises(RequestRefused, match="must contain exactly one line of text"):
        settings_from({"CITEKIT_PASSWORD_FILE": str(path)}, tmp_path)


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, make: object) -> None:
    path = tmp_path / "key"
    make(path)  # type: ignore[operator]

    with pytest.raises(RequestRefused, match="GEMINI_API_KEY_FILE: "):
        settings_from({"GEMINI_API_KEY_FILE": str(path)}, tmp_path)


def test_two_places_for_one_secret_are_refused(tmp_path: Path) -> None:
    path = private(tmp_path / "key", b"one")

    with pytest.raises(RequestRefused, match="QDRANT_API_KEY and QDRANT_API_KEY_FILE are both set"):
        settings_from({"QDRANT_API_KEY": "other", "QDRANT_API_KEY_FILE": str(path)}, tmp_path)


def test_the_repr_of_settings_shows_no_secret(tmp_path: Path) -> None:
    url = "http://user:canary-1@host.test/v1?x"
    values = {name: f"canary-{number}-{name:->40}" for number, name in enumerate(IN_FILES)}

    shown = repr(
        settings_from({**values, "CITEKIT_BASE_URL": url, "OPENAI_BASE_URL": url, "QDRANT_URL": url}, tmp_path)
    )

    assert "canary" not in shown
    assert "http://host.test/v1?x" in shown


def test_an_address_loses_its_user() -> None:
    assert [None, "http://h/p@q", "h:1", "https://h"] == [
        without_user(url) for url in (None, "http://u:p@h/p@q", "u@h:1", "https://h")
    ]


@given(st.text(min_size=6, max_size=30), st.text(max_size=20))
def test_a_secret_is_taken_out_of_texts_and_documents(secret: str, around: str) -> None:
    secret = f"key{secret}"
    remember(secret)

    document = json.dumps({"error": f"{around}{secret}{around}"})

    assert secret not in concealed(f"{around}{secret}{around}")
    assert secret not in json.loads(concealed_in_json(document))["error"]


def test_a_secret_is_taken_out_of_an_error_that_the_terminal_cannot_represent() -> None:
    remember("key-of-the-service")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    write_json({"error": "Überlastet: key-of-the-service"}, out)

    out.seek(0)
    assert {"error": "Überlastet: (secret)"} == json.loads(out.read())


def test_the_password_of_an_address_is_taken_out_as_it_is_written_and_as_it_is_sent() -> None:
    remember_address("https://someone:p%40ssw0rd@host.test:6333/x")

    assert "(secret) (secret) host.test" == concealed("p%40ssw0rd p@ssw0rd host.test")


def test_an_address_without_a_user_hides_nothing() -> None:
    remember_address("https://host.test:6333/collections")

    assert "https://host.test:6333/collections" == concealed("https://host.test:6333/collections")
