"""Which files an agent may name: the folders of the owner, and those of ingested files, whatever the paths try."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from citekit.adapters.sources.allowed_folders import AllowedFolders, OwnersFolders
from citekit.adapters.sources.filesystem import FileSources
from citekit.adapters.sources.ingested_files import EARLY_SEAL, FOLDER, PLACES, IngestedPlaces
from citekit.adapters.sources.restricted import ConfinedSources
from citekit.domain.errors import CiteKitError, PathNotAllowed

SECRET = "the secret of somebody else\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    (made / "docs").mkdir(parents=True)
    (made / "docs" / "a.txt").write_text("open to all\n")
    return made


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    made = tmp_path / "elsewhere" / "secret.txt"
    made.parent.mkdir()
    made.write_text(SECRET)
    return made


def test_a_file_below_an_allowed_folder_is_read_by_its_real_path(home: Path) -> None:
    (home / "link.txt").symlink_to(home / "docs" / "a.txt")

    real = AllowedFolders([home]).check(home / "docs" / ".." / "link.txt")

    assert (home / "docs" / "a.txt").resolve() == real


@pytest.mark.parametrize(
    "lead",
    [
        lambda home, secret: secret,
        lambda home, secret: home / ".." / "elsewhere" / "secret.txt",
        lambda home, secret: home / "docs" / ".." / ".." / "elsewhere" / "secret.txt",
        lambda home, secret: home / "missing" / ".." / ".." / "elsewhere" / "secret.txt",
        lambda home, secret: home.with_name("home2") / "a.txt",
        lambda home, secret: Path(os.path.relpath(secret)),
        lambda home, secret: Path(f"/{secret}"),
        lambda home, secret: Path(f"{home}/docs/a.txt\0.pdf"),
        lambda home, secret: Path("/dev/stdin"),
        lambda home, secret: Path("/proc/self/environ"),
        lambda home, secret: Path("/proc/self/root") / secret.relative_to("/"),
        lambda home, secret: Path(str(home).upper()) / "docs" / "a.txt",
        lambda home, secret: home / "\ud800.txt",
        lambda home, secret: home / ("x" * 5000),
        lambda home, secret: home / ".env",
        lambda home, secret: home / ".ssh" / "id_rsa",
    ],
)
def test_no_path_leads_out_or_to_what_is_hidden(home: Path, secret: Path, lead: Callable[[Path, Path], Path]) -> None:
    folders = AllowedFolders([home])
    path = lead(home, secret)

    allowed = folders.covers(path)

    if "x" * 5000 in str(path):
        assert not FileSources().exists(path)
    else:
        assert not allowed
        with pytest.raises(PathNotAllowed, match="CITEKIT_ROOTS"):
            folders.check(path)


@pytest.mark.parametrize("path", [r"\\server\share\a.txt", r"\\?\C:\a.txt", r"\\.\pipe\a", "//server/share/a.txt"])
def test_other_computers_and_devices_are_not_even_looked_at(
    home: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    folders = AllowedFolders([home])
    monkeypatch.setattr(Path, "drive", property(lambda self: str(self)[:3] if str(self).startswith("\\\\") else ""))

    def real(name: object) -> str:
        looked.append(str(name))
        return str(name)

    monkeypatch.setattr(os.path, "realpath", real)

    allowed = folders.covers(Path(path))

    assert (False, []) == (allowed, looked)


def test_links_that_lead_out_are_outside_and_loops_are_no_files(home: Path, secret: Path) -> None:
    (home / "link.txt").symlink_to(secret)
    (home / "folder").symlink_to(secret.parent)
    (home / "twice.txt").symlink_to(home / "link.txt")
    (home / "loop.txt").symlink_to(home / "loop.txt")
    sources = ConfinedSources(FileSources(), AllowedFolders([home]))

    for path in (home / "link.txt", home / "folder" / "secret.txt", home / "twice.txt", home / "loop.txt"):
        assert not sources.exists(path)
        assert sources.digest(path) is None
        assert sources.digest_uncached(path) is None
        assert sources.cached_digest(path) is None
        with pytest.raises(CiteKitError):
            sources.identify(path)


def test_a_moved_file_is_not_found_behind_a_link_that_leads_out(home: Path, secret: Path) -> None:
    (home / "secret.txt").symlink_to(secret)
    (home / "zz.txt").write_text(SECRET)
    sources = ConfinedSources(FileSources(), AllowedFolders([home]))
    digest = FileSources().digest(secret)
    assert digest is not None

    found = sources.find(digest, len(SECRET), "secret.txt", [home, secret.parent])

    assert home / "zz.txt" == found, "as if the link were not there: whether it fits is not told"


def test_the_folder_of_an_ingested_file_counts_but_not_what_is_below_or_hidden_in_it(home: Path, secret: Path) -> None:
    beside, hidden, below = (secret.parent / name for name in ("beside.txt", ".hidden.txt", "below/deep.txt"))
    below.parent.mkdir()
    for path in (beside, hidden, below):
        path.write_text("x")
    places = IngestedPlaces(home)
    OwnersFolders(places).remember(secret)

    allowed = AllowedFolders([home], places)

    assert [True, True, False, False] == [allowed.covers(path) for path in (secret, beside, hidden, below)]


def test_a_hidden_file_that_was_ingested_counts_alone(home: Path, secret: Path) -> None:
    hidden = secret.with_name(".notes.txt")
    hidden.write_text("x")
    places = IngestedPlaces(home)
    places.remember(hidden)

    allowed = AllowedFolders([home], places)

    assert (True, False) == (allowed.covers(hidden), allowed.covers(secret))


def test_what_others_may_name_does_not_widen_what_they_may_name(home: Path, secret: Path) -> None:
    places = IngestedPlaces(home)
    allowed = AllowedFolders([home], places)

    allowed.remember(secret)

    assert not allowed.covers(secret)


def test_another_process_sees_the_record_and_its_withdrawal(home: Path, secret: Path) -> None:
    reading = AllowedFolders([home], IngestedPlaces(home))
    seen = [reading.covers(secret)]
    IngestedPlaces(home).remember(secret)
    seen.append(reading.covers(secret))
    shutil.rmtree(home / FOLDER)

    seen.append(reading.covers(secret))

    assert [False, True, False] == seen


def test_a_record_that_came_with_a_copied_home_says_nothing(home: Path, secret: Path) -> None:
    IngestedPlaces(home).remember(secret)
    time.sleep(0.01)
    shutil.copytree(home, home.with_name("copy"))

    copied = AllowedFolders([], IngestedPlaces(home.with_name("copy")))

    assert not copied.covers(secret)


def test_a_moved_home_keeps_its_record(home: Path, secret: Path) -> None:
    IngestedPlaces(home).remember(secret)
    home.rename(home.with_name("moved"))

    moved = AllowedFolders([], IngestedPlaces(home.with_name("moved")))

    assert moved.covers(secret)


@pytest.mark.parametrize("seal", ["", "0:0", None, 5, "link", "no seal"])
def test_a_record_without_the_seal_of_this_home_says_nothing(home: Path, secret: Path, seal: object) -> None:
    folder = home / FOLDER
    folder.mkdir()
    if seal == "link":
        known = secret.stat()
        (folder / EARLY_SEAL).symlink_to(secret)
        seal = f"{known.st_ino}:{known.st_ctime_ns}"
    elif seal == "no seal":
        seal = None
    else:
        (folder / EARLY_SEAL).touch()
    (folder / PLACES).write_text(json.dumps({"seal": seal, "folder": str(secret.parent)}) + "\n")

    assert not AllowedFolders([], IngestedPlaces(home)).covers(secret)


def test_lines_that_somebody_adds_to_a_record_say_nothing(home: Path, secret: Path, tmp_path: Path) -> None:
    ingested = tmp_path / "ingested" / "a.txt"
    IngestedPlaces(home).remember(ingested)
    record = home / FOLDER / PLACES
    genuine = json.loads(record.read_text().strip())
    status = record.stat()
    forged = [
        {**genuine, "folder": str(secret.parent)},
        {"code": genuine["code"], "file": str(secret)},
        {"folder": str(secret.parent)},
        {"seal": f"{status.st_ino}:{status.st_ctime_ns}", "folder": str(secret.parent)},
    ]
    with record.open("a") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in forged)

    allowed = AllowedFolders([], IngestedPlaces(home))

    assert [True, False] == [allowed.covers(path) for path in (ingested, secret)]


def test_a_record_of_version_1_0_counts_and_is_rewritten_at_the_next_ingest(home: Path, tmp_path: Path) -> None:
    folder, early, later = home / FOLDER, tmp_path / "early" / "a.txt", tmp_path / "later" / "a.txt"
    folder.mkdir()
    (folder / EARLY_SEAL).touch()
    status = (folder / EARLY_SEAL).stat()
    seal = f"{status.st_ino}:{status.st_ctime_ns}"
    (folder / PLACES).write_text(f"\n{json.dumps({'seal': seal, 'folder': str(early.parent)})}\n")
    counted = AllowedFolders([], IngestedPlaces(home)).covers(early)

    IngestedPlaces(home).remember(later)

    rewritten = [json.loads(line) for line in (folder / PLACES).read_text().split("\n") if line]
    assert counted
    assert not (folder / EARLY_SEAL).exists()
    assert [{"code", "folder"}, {"code", "folder"}] == [set(line) for line in rewritten]
    assert all(map(AllowedFolders([], IngestedPlaces(home)).covers, (early, later)))


def test_what_a_killed_writer_left_unfinished_spoils_nothing(home: Path, secret: Path, tmp_path: Path) -> None:
    places, other = IngestedPlaces(home), tmp_path / "other" / "b.txt"
    places.remember(secret)
    with (home / FOLDER / PLACES).open("ab") as file:
        file.write(b'{"seal": "12:34", "fol')

    IngestedPlaces(home).remember(other)

    assert [True, True] == [AllowedFolders([], IngestedPlaces(home)).covers(path) for path in (secret, other)]


def test_many_at_once_lose_no_record(home: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"folder{number}" / "a.txt" for number in range(40)]
    threads = [threading.Thread(target=IngestedPlaces(home).remember, args=(file,)) for file in files]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(map(AllowedFolders([], IngestedPlaces(home)).covers, files))


def test_a_record_that_cannot_be_written_stops_nobody(home: Path, secret: Path) -> None:
    (home / FOLDER).write_text("a file where the folder should be")

    IngestedPlaces(home).remember(secret)

    assert not AllowedFolders([], IngestedPlaces(home)).covers(secret)


def test_what_a_client_offers_counts_until_it_offers_something_else(home: Path, secret: Path) -> None:
    allowed = AllowedFolders([home])
    seen = []
    for offer in ([secret.parent], [], [Path("/")]):
        allowed.offer(offer)
        seen.append(allowed.covers(secret))

    assert [True, False, False] == seen


@pytest.mark.long
def test_an_answer_at_hand_is_withdrawn_with_the_offer(home: Path, secret: Path) -> None:
    allowed = AllowedFolders([home])
    inner = FileSources()
    sources = ConfinedSources(inner, allowed)
    allowed.offer([secret.parent])
    time.sleep(0.1)  # so young a file is read each time
    inner.digest(secret)
    os.utime(secret, (1, 1))
    while inner.cached_digest(secret) is None:
        time.sleep(0.1)
        inner.digest(secret)
    before = sources.cached_digest(secret)

    allowed.offer([])

    assert before is not None
    assert sources.cached_digest(secret) is None


@contextmanager
def exchanging(place: Path, aim: Path, *, always: bool = True) -> Iterator[None]:
    """What is at `place` is a link to `aim` half of the time."""
    stop, link, kept = threading.Event(), place.with_name("exchanged.tmp"), place.with_name("kept.tmp")

    def exchange() -> None:
        while not stop.is_set():
            link.symlink_to(aim)
            place.rename(kept)
            link.rename(place)
            time.sleep(0)
            place.unlink()
            kept.rename(place)
            if not always:
                time.sleep(0.08)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.long
@pytest.mark.parametrize("always", [True, False])
@pytest.mark.parametrize("part", ["docs", "docs/a.txt"])
def test_what_is_exchanged_for_a_link_between_look_and_reading_is_never_taken(
    home: Path, secret: Path, part: str, always: bool
) -> None:
    (secret.parent / "a.txt").write_text(SECRET)
    allowed = AllowedFolders([home])
    allowed_bytes, taken = (home / "docs" / "a.txt").read_bytes(), set()
    sources = ConfinedSources(FileSources(), allowed)
    aim = secret.parent if part == "docs" else secret.parent / "a.txt"

    with exchanging(home / part, aim, always=always):
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            with suppress(CiteKitError, OSError):
                source = sources.identify(home / "docs" / "a.txt")
                data = source.path.read_bytes()
                if sources.is_unchanged(source):
                    taken.add(data)

    assert taken <= {allowed_bytes}


def test_an_exchange_that_was_taken_back_shows(home: Path, secret: Path) -> None:
    (secret.parent / "a.txt").write_text(SECRET)
    sources = ConfinedSources(FileSources(), AllowedFolders([home]))
    source = sources.identify(home / "docs" / "a.txt")
    still = sources.is_unchanged(source)
    (home / "docs").rename(home / "kept")
    (home / "docs").symlink_to(secret.parent)
    (home / "docs").unlink()
    (home / "kept").rename(home / "docs")

    assert (True, False) == (still, sources.is_unchanged(source))


@pytest.mark.parametrize("depth", [1, 2])
def test_an_exchange_shows_though_files_came_meanwhile_and_times_were_put_back(
    home: Path, secret: Path, depth: int
) -> None:
    folder = home / "docs" if depth == 1 else home / "docs" / "deep"
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("open to all\n")
    sources = ConfinedSources(FileSources(), AllowedFolders([home]))
    source = sources.identify(folder / "a.txt")
    times = [(each, each.stat()) for each in (folder, folder.parent)]

    folder.rename(home / "kept")
    folder.symlink_to(secret.parent)
    folder.unlink()
    (home / "kept").rename(folder)
    (folder / "new.txt").touch()
    (folder / "new.txt").unlink()
    for each, status in times:
        os.utime(each, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert not sources.is_unchanged(source)


def test_a_file_stays_as_it_is_while_others_come_beside_it(home: Path) -> None:
    (home / "docs" / "deep").mkdir()
    stop = threading.Event()

    def fill() -> None:
        while not stop.is_set():
            (home / "docs" / "other.txt").touch()
            (home / "docs" / "other.txt").unlink()

    (home / "docs" / "deep" / "b.txt").write_text("open to all\n")
    sources = ConfinedSources(FileSources(), AllowedFolders([home]))
    filling = threading.Thread(target=fill)
    filling.start()
    try:
        found = [sources.identify(home / "docs" / name) for name in ("a.txt", "deep/b.txt")]
        time.sleep(0.02)
        still = [sources.is_unchanged(each) for each in found]
    finally:
        stop.set()
        filling.join()

    assert [True, True] == still
