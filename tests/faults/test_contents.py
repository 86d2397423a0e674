"""A few contents of every hostile family, on every run; `python -m tests.faults contents` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.contents import all_cases, tried
from tests.faults.hostile.bait import laid
from tests.faults.hostile.tracing import trespasses

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="what a process does is read from /proc"),
]


def test_hostile_contents_end_in_something_right_or_in_one_clear_error(tmp_path: Path) -> None:
    chosen = [case for case in all_cases() if case.brief]

    results = tried(chosen, tmp_path)

    assert {} == {each.case.name: each.faults for each in results if each.faults}


def test_every_case_has_a_name_of_its_own() -> None:
    names = [(case.family, case.name) for case in all_cases()]

    assert len(set(names)) == len(names)


def test_a_trespass_is_seen() -> None:
    lines = [
        'openat(AT_FDCWD</home>, "/elsewhere/bait.txt", O_RDONLY) = 3',
        'openat(AT_FDCWD</home>, "/etc/passwd", O_RDONLY) = 3',
        'openat(AT_FDCWD</home/in>, "../../outside", O_WRONLY|O_CREAT, 0666) = 3',
        'connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
        'execve("/bin/sh", ["sh"], 0x7ff /* 9 vars */) = 0',
        'unlink("/outside") = 0',
    ]

    seen = [each.partition(":")[0] for each in trespasses(lines, (Path("/home"),), (Path("/home"),))]

    assert ["opened the bait", "read", "written", "network", "program", "changed"] == seen


def test_what_is_allowed_is_no_trespass() -> None:
    lines = [
        'openat(AT_FDCWD</home>, "in/a.pdf", O_RDONLY|O_CLOEXEC) = 3',
        'openat(AT_FDCWD</home>, "/usr/lib/x.so", O_RDONLY) = 3',
        'openat(AT_FDCWD</home>, "out", O_WRONLY|O_CREAT, 0666) = 3',
        'rename("/home/a", "/home/b") = 0',
        'unlink("/outside") = -1 ENOENT (No such file or directory)',
    ]

    assert [] == list(trespasses(lines, (Path("/home"),), (Path("/home"),)))


def test_the_server_of_the_bait_notices_who_asks(tmp_path: Path) -> None:
    import urllib.request

    with laid(tmp_path) as (bait, server):
        with urllib.request.urlopen(bait.url) as answer:
            said = answer.read()

        assert b"canary" in said
        assert 1 == len(server.asked)
