"""What reading sources promises, with the index, without it, and with one that is damaged."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources import digest_cache
from citekit.adapters.sources.filesystem import FileSources
from citekit.adapters.system.files import UNREADABLE, UNWRITABLE, unreadable, unwritable
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable, SourceUnreadable, SourceUnsupported
from citekit.domain.ports.sources import Sources

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"


@pytest.fixture(params=["index", "no index", "damaged index"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> Sources:
    if request.param == "no index":
        return FileSources()
    folder = tmp_path / "home" / "index"
    if request.param == "damaged index":
        folder.parent.mkdir()
        folder.write_text("a file where the folder should be")
    return FileSources(Index(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def a_file(path: Path, data: bytes = b"some text\n", age: float = 60.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


class TestSources:
    def test_a_file_is_known_by_its_bytes(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "paper.pdf", PDF)

        found = sources.identify(path)

        assert (path, Digest.of_bytes(PDF), len(PDF)) == (found.path, found.digest, found.size)
        assert "pdf" == found.format.name

    def test_a_relative_path_becomes_absolute(
        self, sources: Sources, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_file(folder / "a.txt")
        monkeypatch.chdir(folder)

        assert folder / "a.txt" == sources.identify(Path("a.txt")).path

    def test_a_link_is_followed_and_keeps_its_name(self, sources: Sources, folder: Path) -> None:
        a_file(folder / "store" / "abcdef", PDF)
        (folder / "paper.pdf").symlink_to(folder / "store" / "abcdef")
        (folder / "folder").symlink_to(folder / "store")

        link, inside = sources.identify(folder / "paper.pdf"), sources.identify(folder / "folder" / "abcdef")

        assert (folder / "paper.pdf", folder / "store" / "abcdef") == (link.path, inside.path)
        assert link.digest == inside.digest

    def test_the_name_of_the_target_tells_the_format_where_the_links_name_does_not(
        self, sources: Sources, folder: Path
    ) -> None:
        a_file(folder / "program.py", b"x = 1\n")
        (folder / "link").symlink_to("program.py")

        assert "python" == sources.identify(folder / "link").format.name

    def test_a_changed_file_has_another_digest(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt", b"one\n", age=60)
        before = sources.digest(path)
        a_file(path, b"two\n", age=30)

        assert (Digest.of_bytes(b"one\n"), Digest.of_bytes(b"two\n")) == (before, sources.digest(path))

    def test_a_file_written_twice_within_a_moment_is_not_mistaken(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt", b"one\n", age=0)
        status = path.stat()
        before = sources.digest(path)
        path.write_bytes(b"two\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert (Digest.of_bytes(b"one\n"), Digest.of_bytes(b"two\n")) == (before, sources.digest(path))

    def test_reading_changes_nothing_about_the_file(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt")
        before = path.stat()

        sources.identify(path)

        after = path.stat()
        assert (before.st_mtime_ns, before.st_ctime_ns, before.st_mode) == (
            after.st_mtime_ns,
            after.st_ctime_ns,
            after.st_mode,
        )

    def test_whether_a_file_is_there_is_told_without_an_error(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt")
        (folder / "loop").symlink_to("loop")
        (folder / "link").symlink_to("a.txt")
        absent = ["missing", "a.txt/below", "loop", ".", "x" * 300, "nul\0", "\ud800", "/dev/null"]

        found = [sources.exists(folder / name) for name in absent]

        assert ([False] * len(absent), [True, True]) == (found, [sources.exists(path), sources.exists(folder / "link")])

    def test_a_file_still_is_what_it_was_until_its_bytes_change(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt", b"one\n")
        source = sources.identify(path)
        before = sources.is_unchanged(source)
        path.write_bytes(b"two\n")
        edited = sources.is_unchanged(source)
        path.unlink()

        assert (True, False, False) == (before, edited, sources.is_unchanged(source))

    def test_a_file_that_was_changed_and_changed_back_is_no_longer_what_it_was(
        self, sources: Sources, folder: Path
    ) -> None:
        path = a_file(folder / "a.txt", b"one\n")
        source, status = sources.identify(path), path.stat()
        time.sleep(0.02)  # the times of a file system are no finer than that of some
        path.write_bytes(b"two\n")
        path.write_bytes(b"one\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert not sources.is_unchanged(source)
        assert sources.is_unchanged(sources.identify(path))

    @pytest.mark.parametrize("name", [b"caf\xe9.txt", b"caf\xe9/a.txt"])
    def test_a_name_that_no_map_could_hold_is_refused(self, sources: Sources, folder: Path, name: bytes) -> None:
        path = a_file(folder / os.fsdecode(name))

        with pytest.raises(SourceUnreadable, match=r"not valid UTF-8. Rename it\.$") as caught:
            sources.identify(path)

        assert "caf\\udce9" in str(caught.value)
        assert str(caught.value).isprintable()

    def test_what_is_no_readable_file_has_no_digest(self, sources: Sources, folder: Path) -> None:
        os.mkfifo(folder / "pipe")

        for path in (folder, folder / "pipe", folder / "missing", Path("/dev/null"), Path("nul\0"), Path("x" * 5000)):
            assert sources.digest(path) is None
            assert sources.digest_uncached(path) is None

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("missing.pdf", "no such file"),
            ("file.txt/below", "not a folder"),
            ("folder", "a folder, not a file"),
            ("pipe", "a pipe"),
            ("socket", "a socket"),
            ("/dev/null", "a device"),
            ("empty.pdf", "empty"),
            ("loop", "loop of symbolic links"),
            ("dangling", "no such file"),
            ("nul\0byte", "null"),
            ("x" * 300, "too long for the file system"),
        ],
    )
    def test_what_cannot_be_read_is_one_clear_error(
        self, sources: Sources, folder: Path, name: str, reason: str
    ) -> None:
        a_file(folder / "file.txt")
        a_file(folder / "empty.pdf", b"")
        (folder / "folder").mkdir()
        os.mkfifo(folder / "pipe")
        (folder / "loop").symlink_to("loop")
        (folder / "dangling").symlink_to("nowhere")
        with socket.socket(socket.AF_UNIX) as end:
            here = Path.cwd()
            os.chdir(folder)
            end.bind("socket")
            os.chdir(here)

            with pytest.raises(SourceUnreadable, match=reason):
                sources.identify(folder / name)

    @pytest.mark.parametrize(
        ("name", "head", "reason"),
        [
            ("paper.pdf", b"<html>404 not found</html>", "extension .pdf but is text"),
            ("clip.mp4", b"version https://git-lfs.github.com/spec/v1\n", "extension .mp4 but is text"),
            ("picture.png", b"hello", "extension .png but is text"),
            ("clip.mp4", b"\x01\x02\x03\x04" * 50, "its content is something else"),
            ("what.xyz", b"\x01\x02\x03\x00" * 50, "not of a known type"),
            ("paper.txt", b"\x1f\x8b\x08\x00" * 50, "gzip"),
            ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "older Word document; save it as .docx"),
            ("secret.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "protected by a password"),
            ("program", b"\x7fELF\x02\x01\x01\0" + b"\0" * 99, "a program"),
        ],
    )
    def test_what_nobody_understands_is_one_clear_error(
        self, sources: Sources, folder: Path, name: str, head: bytes, reason: str
    ) -> None:
        with pytest.raises(SourceUnsupported, match=reason):
            sources.identify(a_file(folder / name, head))

    @pytest.mark.parametrize(
        ("name", "part", "format"),
        [
            ("a.docx", "word/document.xml", "docx"),
            ("a.zip", "word/document.xml", "docx"),
            ("a.docx", "xl/workbook.xml", "xlsx"),
            ("a.pptm", "docProps/app.xml", "pptx"),
        ],
    )
    def test_an_office_file_is_known_by_its_parts_and_else_by_its_name(
        self, sources: Sources, folder: Path, name: str, part: str, format: str
    ) -> None:
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr(part, "<w/>")

        assert format == sources.identify(folder / name).format.name

    def test_an_opendocument_file_is_named(self, sources: Sources, folder: Path) -> None:
        with zipfile.ZipFile(folder / "a.odt", "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")

        with pytest.raises(SourceUnsupported, match="an OpenDocument file"):
            sources.identify(folder / "a.odt")

    def test_rich_text_is_not_taken_for_its_markup(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "a.txt", rb"{\rtf1\ansi Hello \b world\b0.}")

        with pytest.raises(SourceUnsupported, match="an RTF document; save it as DOCX or PDF"):
            sources.identify(path)

    def test_a_file_that_keeps_changing_is_refused(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "growing.txt", b"line\n" * 4_000_000)
        done = threading.Event()

        def grow() -> None:
            with path.open("ab", buffering=0) as file:
                while not done.is_set():
                    file.write(b"more\n")
                    time.sleep(0.0005)

        writer = threading.Thread(target=grow)
        writer.start()
        try:
            with pytest.raises(SourceUnreadable, match="changed while it was being read"):
                sources.identify(path)
        finally:
            done.set()
            writer.join()

    def test_a_moved_file_is_found_by_its_bytes(self, sources: Sources, folder: Path) -> None:
        a_file(folder / "a" / "b" / "renamed.txt", b"the text")
        a_file(folder / "a" / "other.txt", b"not that")

        found = sources.find(Digest.of_bytes(b"the text"), 8, "text.txt", [folder / "missing", folder])

        assert folder / "a" / "b" / "renamed.txt" == found

    def test_a_file_of_the_same_name_is_looked_at_first(self, sources: Sources, folder: Path) -> None:
        a_file(folder / "a.txt", b"the text")
        a_file(folder / "deep" / "down" / "text.txt", b"the text")

        found = sources.find(Digest.of_bytes(b"the text"), 8, "text.txt", [folder])

        assert folder / "deep" / "down" / "text.txt" == found

    def test_a_file_with_other_bytes_is_not_taken_for_it(self, sources: Sources, folder: Path) -> None:
        a_file(folder / "text.txt", b"not that")

        assert sources.find(Digest.of_bytes(b"the text"), 8, "text.txt", [folder]) is None

    def test_a_root_may_be_the_file_itself(self, sources: Sources, folder: Path) -> None:
        path = a_file(folder / "text.txt", b"the text")

        assert path == sources.find(Digest.of_bytes(b"the text"), 8, "x", [path])

    def test_loops_of_links_and_pipes_do_not_hold_up_the_search(self, sources: Sources, folder: Path) -> None:
        (folder / "a").mkdir()
        (folder / "a" / "up").symlink_to(folder)
        (folder / "self").symlink_to("self")
        os.mkfifo(folder / "pipe")
        a_file(folder / ".citekit_cache" / "objects" / "ab", b"the text")

        assert sources.find(Digest.of_bytes(b"the text"), 8, "text.txt", [folder, folder]) is None


def test_the_search_is_bounded(folder: Path) -> None:
    for number in range(50):
        a_file(folder / f"{number:02d}.txt", b"not that")
    a_file(folder / "zz.txt", b"the text")
    wanted = Digest.of_bytes(b"the text")

    short = FileSources(search_limit=20).find(wanted, 8, "zz.txt", [folder])
    long = FileSources(search_limit=200).find(wanted, 8, "zz.txt", [folder])

    assert (None, folder / "zz.txt") == (short, long)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are believed as soon as they were read, so that no test waits."""
    monkeypatch.setattr(digest_cache, "RACY", 0.0)


def plant(folder: Path, digest: Digest) -> None:
    """Let the index say that of every file whose digest it knows."""
    index = Index(folder)
    for row in [row for row in index.keys("state:") if "sha256" in (index.get(row) or {})]:
        index.put(row, {"sha256": digest.hex})


@pytest.mark.parametrize("age", [60.0, -1e6], ids=["past", "future"])
def test_an_unchanged_file_is_read_only_once(tmp_path: Path, at_once: None, age: float) -> None:
    path, planted = a_file(tmp_path / "a.txt", b"one\n", age), Digest.of_bytes(b"planted")
    time.sleep(0.02)
    first = FileSources(Index(tmp_path / "index")).digest(path)
    plant(tmp_path / "index", planted)

    remembered = FileSources(Index(tmp_path / "index")).digest(path)

    assert (Digest.of_bytes(b"one\n"), planted) == (first, remembered)


def test_a_file_with_two_names_is_what_each_of_them_says(tmp_path: Path, at_once: None) -> None:
    path = a_file(tmp_path / "a.md", b"# One\n")
    (tmp_path / "a.rst").hardlink_to(path)
    time.sleep(0.02)
    sources = [FileSources(Index(tmp_path / "index")) for _ in range(3)]

    found = [each.identify(tmp_path / name).format.name for each in sources for name in ("a.md", "a.rst", "a.md")]

    assert ["markdown", "rst", "markdown"] * 3 == found


def test_a_renamed_file_is_what_its_new_name_says(tmp_path: Path, at_once: None) -> None:
    path = a_file(tmp_path / "a.md", b"# One\n")
    time.sleep(0.02)
    before = FileSources(Index(tmp_path / "index")).identify(path)

    after = FileSources(Index(tmp_path / "index")).identify(path.rename(tmp_path / "a.rst"))

    assert ("markdown", "rst", "a.rst") == (before.format.name, after.format.name, after.path.name)


def test_an_identified_file_is_not_opened_again(tmp_path: Path, at_once: None) -> None:
    path, planted = a_file(tmp_path / "a.md", b"# One\n"), Digest.of_bytes(b"planted")
    time.sleep(0.02)
    FileSources(Index(tmp_path / "index")).identify(path)
    index = Index(tmp_path / "index")
    [row] = index.keys("state:")
    index.put(row, {**(index.get(row) or {}), "sha256": planted.hex, "format": "rst"})

    remembered = FileSources(Index(tmp_path / "index")).identify(path)

    assert (planted, "rst", 6) == (remembered.digest, remembered.format.name, remembered.size)


def test_what_another_version_took_a_file_for_is_not_believed(tmp_path: Path, at_once: None) -> None:
    path = a_file(tmp_path / "a.md", b"# One\n")
    time.sleep(0.02)
    FileSources(Index(tmp_path / "index")).identify(path)
    index = Index(tmp_path / "index")
    [row] = index.keys("state:")
    index.put(row, {**(index.get(row) or {}), "format": "rst", "detection": 1})

    found = FileSources(Index(tmp_path / "index")).identify(path)

    assert "markdown" == found.format.name


def test_the_bytes_are_read_where_that_is_asked_for(tmp_path: Path, at_once: None) -> None:
    path = a_file(tmp_path / "a.txt", b"one\n")
    time.sleep(0.02)
    FileSources(Index(tmp_path / "index")).digest(path)
    plant(tmp_path / "index", Digest.of_bytes(b"planted"))
    sources = FileSources(Index(tmp_path / "index"))

    read = sources.digest_uncached(path)

    assert (Digest.of_bytes(b"one\n"),) * 2 == (read, sources.digest(path))


def test_an_edit_that_puts_the_time_of_change_back_is_noticed(tmp_path: Path, at_once: None) -> None:
    path = a_file(tmp_path / "a.txt", b"one\n")
    time.sleep(0.02)
    sources = FileSources(Index(tmp_path / "index"))
    source, status = sources.identify(path), path.stat()
    path.write_bytes(b"two\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    found = sources.is_unchanged(source), sources.digest(path)

    assert (False, Digest.of_bytes(b"two\n")) == found


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that a user other than root can reach."""
    with tempfile.TemporaryDirectory(prefix="citekit-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_file_that_we_may_not_read_is_one_clear_error(open_folder: Path) -> None:
    path = a_file(open_folder / "secret.txt")
    path.chmod(0)
    script = """
import os, sys
from pathlib import Path
from citekit.adapters.sources import digest_cache as states
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.errors import SourceUnreadable
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    FileSources().identify(Path(sys.argv[1]))
except SourceUnreadable as error:
    print(error)
"""

    said = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)

    assert f"Cannot read {path}: you are not permitted to read it.\n" == said.stdout


@pytest.mark.parametrize("code", sorted(errno.errorcode))
def test_every_error_of_the_system_is_said_in_one_sentence(code: int) -> None:
    error = OSError(code, os.strerror(code))

    write, read = unwritable(error, Path("/x")), unreadable(error, Path("/x"))

    assert (HomeUnwritable, SourceUnreadable) == (type(write), type(read))
    assert f"Cannot write /x: {UNWRITABLE.get(code, os.strerror(code))}." == str(write)
    assert f"Cannot read /x: {UNREADABLE.get(code, os.strerror(code))}." == str(read)
