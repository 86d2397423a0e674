"""Token files and folders of subjects that came with an unpacked home admit nobody and lead nowhere."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from citekit.adapters.access.audit_log import AuditLog
from citekit.adapters.system.home_files import make_folder
from citekit.container import bootstrap
from citekit.container.http_access import SUBJECTS, TOKENS, subjects_of
from citekit.domain.errors import HomeUnsafe, RequestRefused
from citekit.domain.subject import READ, Subject
from tests.cli.program import Cli

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX")


def subject(home: Path, name: str) -> Subject:
    return Subject(name=name, home=home / SUBJECTS / name, scopes=frozenset({READ}))


def test_tokens_of_an_unpacked_home_admit_nobody_and_can_be_revoked(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    token = subjects_of(bootstrap(home=theirs)).add(subject(theirs, "mallory"))
    assert token is not None
    shutil.copytree(theirs, ours)

    subjects = subjects_of(bootstrap(home=ours))
    alice = subjects.add(subject(ours, "alice"))

    assert alice is not None
    assert subjects.with_token(token) is None
    assert subjects.named("mallory") is None
    assert subjects.with_token(alice) == subject(ours, "alice")
    assert ["mallory"] == list(subjects.strangers())
    subjects.revoke("mallory")
    assert [] == list(subjects_of(bootstrap(home=ours)).strangers())
    assert subjects.with_token(alice) is not None


@pytest.mark.parametrize("change", [{"home": "/elsewhere"}, {"scopes": ["admin"]}, {"code": "00"}, {"code": 7}])
def test_an_edited_entry_admits_nobody(tmp_path: Path, change: dict[str, object]) -> None:
    subjects = subjects_of(bootstrap(home=tmp_path))
    token = subjects.add(subject(tmp_path, "alice"))
    assert token is not None
    plain = json.loads((tmp_path / TOKENS).read_text())
    plain["subjects"][0] |= change
    (tmp_path / TOKENS).write_text(json.dumps(plain))

    assert subjects.with_token(token) is None
    with pytest.raises(RequestRefused, match=r"no subject 'bob'\. Subjects: alice"):
        subjects.revoke("bob")


def test_the_list_of_tokens_names_those_that_are_not_admitted(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    assert 0 == cli("token", "add", "alice").code
    plain = json.loads((tmp_path / TOKENS).read_text())
    del plain["subjects"][0]["code"]
    (tmp_path / TOKENS).write_text(json.dumps(plain))

    listed = cli("token", "list")

    assert "because they were not added in this home, or were changed in the file: alice." in listed.err
    assert "There are no subjects" in listed.out


def test_a_link_in_place_of_the_folder_of_subjects_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / SUBJECTS).symlink_to(tmp_path / "outside")

    with pytest.raises(HomeUnsafe):
        subjects_of(bootstrap(home=home)).add(subject(home, "alice"))
    with pytest.raises(HomeUnsafe):
        make_folder(home / SUBJECTS / "alice" / ".resource_maps")
    assert [] == list((tmp_path / "outside").iterdir())


def test_a_pipe_in_place_of_the_audit_log_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    reader = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="not a regular file"):
        AuditLog(tmp_path / "log")({})
    os.close(reader)
    with pytest.raises(OSError, match="log"):
        AuditLog(tmp_path / "log")({})
