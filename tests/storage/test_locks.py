"""Locks whose files go away."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citekit.adapters.system import file_locks
from citekit.adapters.system.file_locks import Locks
from citekit.domain.errors import Cancelled

COUNT = """
import sys
from pathlib import Path
from citekit.adapters.system import file_locks as filelock
from citekit.adapters.system.file_locks import Locks
folder = Path(sys.argv[1])
locks = Locks(folder / "locks", passing=True)
for _ in range(150):
    with locks.hold("name"):
        number = int((folder / "number").read_text())
        (folder / "number").write_text(str(number + 1))
"""


def test_processes_that_remove_the_file_still_take_turns(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")

    processes = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(3)]

    assert [0, 0, 0] == [process.wait(120) for process in processes]
    assert ("450", []) == ((tmp_path / "number").read_text(), list((tmp_path / "locks").iterdir()))


def test_threads_that_remove_the_file_still_take_turns(tmp_path: Path) -> None:
    locks = Locks(tmp_path / "locks", passing=True)
    inside: list[int] = []

    def work(number: int) -> bool:
        with locks.hold("name"):
            inside.append(number)
            alone = inside == [number]
            inside.remove(number)
            return alone

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(200)))

    assert [True] * 200 == results
    assert {} == locks._gates


def test_who_waits_for_another_process_may_give_up(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from citekit.adapters.system.file_locks import Locks\n"
        "with Locks(Path(sys.argv[1])).hold('name'): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    locks, looks = Locks(tmp_path), threading.Semaphore(2)

    def give_up() -> None:
        if not looks.acquire(blocking=False):
            raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"), locks.hold("name", give_up):
        pass
    holder.communicate()

    with locks.hold("name", give_up):
        pass


def test_a_wait_that_nobody_watches_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(file_locks, "SILENCE", 0.05)
    done = threading.Event()

    def wait() -> None:
        with Locks(tmp_path).hold("name"):
            done.set()

    with Locks(tmp_path).hold("name"):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not done.wait(0.5)
    thread.join(60)

    assert [f"Waiting for another CiteKit process or thread, which has locked {tmp_path / 'name'}."] == caplog.messages
    assert done.is_set()
