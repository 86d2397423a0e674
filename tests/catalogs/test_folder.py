"""A folder as a library: which files are books, what their numbers are, and how often they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.catalogs.folder import FolderLibrary, numbers
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.errors import LibraryUnavailable, SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts, BookFilter, BookRecord
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class FirstLineReader:
    """Takes the first line of a text for its title and the second for its author, and counts what it reads."""

    def __init__(self) -> None:
        self.read_files: list[str] = []

    def supports(self, format: Format) -> bool:
        return format.name in ("text", "markdown", "html")

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        return ExtractedText(UnitKind.LINE, "", ())

    def facts(self, source: Source) -> BookFacts:
        self.read_files.append(source.path.name)
        title, *author = source.path.read_text().splitlines()
        if title == "broken":
            raise SourceUnsupported("it is broken")
        return BookFacts(title=title or None, authors=author, language="en")


def put(folder: Path, name: str, text: str = "x", age: int = 1000) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (10**9 - age,) * 2)
    return path


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files count as settled at once, not only when another change would show in their times."""
    monkeypatch.setattr("citekit.adapters.catalogs.folder.RACY", -1.0)


def everything(library: FolderLibrary) -> list[BookRecord]:
    return list(library.find(BookFilter(), 1000))


def test_files_of_one_name_in_one_folder_are_one_book(tmp_path: Path) -> None:
    put(tmp_path, "Sea/Moby.TXT", "Moby-Dick\nMelville")
    put(tmp_path, "Sea/Moby.md", "")
    put(tmp_path, "Moby.txt", "Another\nAuthor")

    books = {book.title: book for book in everything(FolderLibrary(tmp_path, FirstLineReader()))}

    assert {"Moby-Dick": ("MD", "TXT"), "Another": ("TXT",)} == {title: book.formats for title, book in books.items()}
    assert (("Melville",), ("Sea",), ("eng",)) == (
        books["Moby-Dick"].authors,
        books["Moby-Dick"].tags,
        books["Moby-Dick"].languages,
    )
    assert tmp_path / "Sea" / "Moby.TXT" == books["Moby-Dick"].files["TXT"]


def test_a_file_that_says_nothing_is_called_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, "a/b/Author - Title v1.2.pdf", "%PDF-")
    put(tmp_path, "broken.txt", "broken")

    found = everything(FolderLibrary(tmp_path, FirstLineReader()))

    assert {("Author - Title v1.2", ("a",)), ("broken", ())} == {(book.title, book.tags) for book in found}


def test_other_files_hidden_ones_and_links_out_of_the_folder_are_no_books(tmp_path: Path) -> None:
    library = tmp_path / "library"
    outside = put(tmp_path, "outside/secret.txt")
    for name in (".hidden.txt", ".git/x.txt", "picture.png", "noformat", "book.txt"):
        put(library, name)
    (library / "away.txt").symlink_to(outside)
    (library / "folder").symlink_to(outside.parent)
    (library / "loop").symlink_to(library)
    (library / "inside.txt").symlink_to(library / "book.txt")
    (library / "dead.txt").symlink_to(library / "none.txt")
    (library / "folder.txt").mkdir()

    found = everything(FolderLibrary(library, FirstLineReader()))

    assert {"book.txt", "inside.txt"} == {path.name for book in found for path in book.files.values()}


def test_those_changed_last_come_first(tmp_path: Path) -> None:
    for age, name in ((3, "c"), (1, "b"), (2, "a"), (2, "A")):
        put(tmp_path, f"{name}.txt", name, age)

    assert ["b", "A", "a", "c"] == [book.title for book in everything(FolderLibrary(tmp_path, FirstLineReader()))]


def test_a_number_stays_when_others_come_and_go_and_the_file_changes(tmp_path: Path) -> None:
    put(tmp_path, "m.txt", "M")
    before = everything(FolderLibrary(tmp_path, FirstLineReader()))[0].id
    for name in ("a.txt", "z/z.txt", "m.md"):
        put(tmp_path, name)
    put(tmp_path, "m.txt", "Other")

    library = FolderLibrary(tmp_path, FirstLineReader())

    assert {"MD", "TXT"} == set(library.get(before).formats)


@given(names=st.sets(st.text(min_size=1, max_size=3), max_size=40))
def test_numbers_are_different_positive_and_of_31_bits(names: set[str]) -> None:
    found = numbers(names)

    assert (names, len(names)) == (set(found), len(set(found.values())))
    assert all(0 < number < 2**31 for number in found.values())
    assert found == numbers(sorted(names, reverse=True))


def test_names_of_one_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citekit.adapters.catalogs.folder._number", lambda name, attempt: 7 + attempt)

    assert {"a": 7, "b": 8, "c": 9} == numbers(["c", "a", "b"])


def test_changes_are_seen_and_only_what_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch)
    reader = FirstLineReader()
    library = FolderLibrary(tmp_path, reader)
    for name in ("a", "b"):
        put(tmp_path, f"{name}.txt", f"{name}\nSomebody")
    first = [book.title for book in everything(library)]
    put(tmp_path, "b.txt", "B changed\nSomebody")
    (tmp_path / "a.txt").rename(tmp_path / "c.txt")

    second = [book.title for book in everything(library)]
    library.stats()

    assert (["a", "b"], ["B changed", "a"]) == (first, second)
    assert ["a.txt", "b.txt", "b.txt", "c.txt"] == sorted(reader.read_files)


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    library = FolderLibrary(tmp_path, FirstLineReader())
    path = put(tmp_path, "a.txt", "one\nX")
    assert ["one"] == [book.title for book in everything(library)]

    with path.open("r+") as file:
        file.write("two")
    os.utime(path, (10**9 - 1000,) * 2)

    assert ["two"] == [book.title for book in everything(library)]


def test_an_index_keeps_what_files_say_between_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch)
    put(tmp_path / "books", "a.txt", "Title\nÁuthor")
    once, again = FirstLineReader(), FirstLineReader()

    before = everything(FolderLibrary(tmp_path / "books", once, Index(tmp_path / "index")))
    after = everything(FolderLibrary(tmp_path / "books", again, Index(tmp_path / "index")))

    assert before == after
    assert (["a.txt"], []) == (once.read_files, again.read_files)


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    put(tmp_path, "file.txt")
    missing, file = tmp_path / "none", tmp_path / "file.txt"

    for path, said in ((missing, f"Library folder not found: {missing}"), (file, f"but {file} is a file")):
        with pytest.raises(LibraryUnavailable, match=said):
            FolderLibrary(path, FirstLineReader()).stats()


def test_a_folder_of_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citekit.adapters.catalogs.folder.ENTRIES_LIMIT", 3)
    for number in range(4):
        put(tmp_path, f"{number}.txt")

    with pytest.raises(LibraryUnavailable, match="more than 3 files"):
        FolderLibrary(tmp_path, FirstLineReader()).stats()


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="such names are not possible here")
def test_a_name_that_is_not_unicode_is_no_book(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("x")
    put(tmp_path, "good.txt", "Good")

    assert ["Good"] == [book.title for book in everything(FolderLibrary(tmp_path, FirstLineReader()))]
