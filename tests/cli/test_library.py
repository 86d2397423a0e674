"""`citekit library`: a small library as Calibre stores it, taken in, looked at, taken out, and whatever can be wrong."""

# mypy: disable-error-code="no-untyped-call,attr-defined,no-any-return"

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import sys
import time
from pathlib import Path

import click
import pytest

from citekit.entrypoints.cli.library import COMMANDS
from citekit.entrypoints.cli.library import command as group
from tests.cli.program import plain_environment
from tests.cli.shelf import BEES, EXTRA, Shelf, prose

HEAVY = {*EXTRA, "mcp", "pymupdf", "av", "PIL", "lxml", "selectolax", "rich", "cattrs"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A library of which nothing is ingested; tests only read there."""
    return Shelf.made(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """The library after a batch over all of it; tests only read there."""
    shelf = Shelf.made(tmp_path_factory.mktemp("taken"))
    assert 1 == shelf("library", "batch", "--all").code
    return shelf


@pytest.fixture
def own(taken_in: Shelf, tmp_path: Path) -> Shelf:
    """A copy of that home, to change."""
    shutil.copytree(taken_in.cli.here, tmp_path / "home")
    return Shelf(type(taken_in.cli)(tmp_path / "home"), taken_in.library)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_command_s_own(name: str) -> None:
    command = group.get_command(click.Context(group), name)

    assert command is not None
    assert COMMANDS[name][1] == (command.help or "").partition("\n")[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ("library", "--help"),
        ("library", "search"),
        ("library", "book", "1"),
        ("library", "preview"),
        ("library", "stats"),
    ],
)
def test_looking_at_the_library_loads_no_driver(shelf: Shelf, arguments: tuple[str, ...]) -> None:
    done = shelf.python("run(sys.argv[1:]); print('\\0', *sys.modules)", *arguments)

    loaded = {name.partition(".")[0] for name in done.stdout.partition("\0")[2].split()}
    assert "click" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.long
def test_search_shows_every_title_in_its_column(shelf: Shelf) -> None:
    lines = shelf("library", "search").out.splitlines()

    assert ["ID", "AUTHOR", "LANGUAGE", "FORMATS", "TITLE"] == lines[0].split()
    assert ["5", "4", "3", "2", "1"] == [line.split()[0] for line in lines[1:]]
    assert any(line.startswith("3   鲁迅") and line.endswith("狂人日记") for line in lines)


def test_search_narrows_by_author_language_and_every_tag(shelf: Shelf) -> None:
    found = shelf.json(
        "library", "search", "--author", "writer", "--language", "eng", "--tag", "fire", "--tag", "nature"
    )

    assert ["Bees and Volcanoes"] == [book["title"] for book in found["books"]]
    assert [] == shelf.json("library", "search", "--tag", "fire", "--tag", "sea")["books"]


def test_a_book_is_shown_with_its_comment_as_plain_words(shelf: Shelf) -> None:
    lines = shelf("library", "book", "1").out.splitlines()

    assert "Bees and Volcanoes" == lines[0]
    assert "  about      Honey & ash" == lines[-1]


def test_preview_says_how_to_see_books_of_other_formats(shelf: Shelf) -> None:
    one = shelf("library", "preview", "--title", "bridges")
    other = shelf("library", "preview", "--title", "bridges", "--format", "any")

    assert (0, "", "No book in the format epub matches. To see all formats, use --format any.\n") == (
        one.code,
        one.out,
        one.err,
    )
    assert "Bridges, Bread" in other.out


def test_guardians_and_patterns_are_listed(shelf: Shelf) -> None:
    found = shelf.json("library", "guardians")

    assert found["count"] == len(found["guardians"]) > 5
    assert {"tldr", "just_answer"} <= {pattern["id"] for pattern in found["patterns"]}


@pytest.mark.long
def test_without_the_extra_the_library_is_shown_and_what_needs_it_says_so(shelf: Shelf) -> None:
    shown = [
        shelf.without_extra("library", *words)
        for words in (("search",), ("book", "1"), ("preview",), ("stats",), ("guardians",))
    ]
    refused = [
        shelf.without_extra(*words)
        for words in (("library", "ingest", "1"), ("library", "batch", "--all"), ("query", "bees"))
    ]

    assert [0] * 5 == [done.returncode for done in shown]
    assert [1] * 3 == [done.returncode for done in refused]
    assert [] == [done.stderr for done in refused if "pip install 'citekit-evidence[library]'" not in done.stderr]
    assert [1] * 3 == [len(done.stderr.splitlines()) for done in refused]


@pytest.mark.long
def test_a_batch_takes_in_what_it_can_and_the_second_one_skips_it(own: Shelf) -> None:
    stats = own.json("library", "stats")
    again = own("--json", "library", "batch", "--all")

    statuses = {book["id"]: (book["status"], book["error"]) for book in again.document["results"]}
    assert 3 == stats["qdrant"]["ingested_books"]
    assert 1 == again.code
    assert {1, 2, 3} == {number for number, told in statuses.items() if told == ("skipped", "Already ingested")}
    assert ("skipped", "File not found") == statuses[5]
    assert "failed" == statuses[4][0]
    assert "ocr" in statuses[4][1].casefold()
    assert again.err == "Error: 1 of 5 books could not be ingested.\n"


@pytest.mark.long
def test_one_book_is_taken_in_once_and_again_by_force(own: Shelf) -> None:
    refused = own.fails("library", "ingest", "1")
    forced = own.json("library", "ingest", "1", "--force", "--no-chapters")

    assert (
        1,
        "'Bees and Volcanoes' was already ingested into this collection. To replace it, use --force.",
    ) == refused
    assert (True, False) == (forced["success"], forced["hierarchical"])


def test_several_books_pass_over_those_that_are_there(own: Shelf) -> None:
    answer = own("--json", "library", "ingest", "1", "2")

    assert (0, 0, 2, 0) == (answer.code, *(answer.document[key] for key in ("succeeded", "skipped", "failed")))


@pytest.mark.long
def test_a_folder_of_loose_files_is_taken_in_without_what_is_hidden(own: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "loose"
    (folder / ".hidden").mkdir(parents=True)
    (folder / ".hidden" / "no.md").write_text("# No\n\nHidden.\n")
    (folder / "yes.md").write_text(f"# Yes\n\n{prose(BEES)}\n")

    done = own.json("library", "ingest-file", str(folder), "--title", "Yes", "--author", "Me")

    assert ("Yes", "Me", "MD") == (done["title"], done["author"], done["format"])


@pytest.mark.long
def test_remove_takes_a_book_out_and_says_how_much_went(own: Shelf) -> None:
    gone = own.json("library", "remove", "--book-id", "1")
    refused = own.fails("library", "remove", "--book-id", "1")

    assert (True, "Bees and Volcanoes") == (gone["success"], gone["title"])
    assert (2, "'book 1' is not in the collection 'alexandria'.") == refused
    assert 2 == own.json("library", "stats")["qdrant"]["ingested_books"]


@pytest.mark.long
def test_list_shows_the_ingested_books(own: Shelf) -> None:
    listed = own.json("library", "list")

    assert listed["count"] == len(listed["books"]) == own.json("library", "stats")["qdrant"]["ingested_books"]
    assert {"ready"} == {each["state"] for each in listed["books"]}
    assert all(each["chunks"] and each["embedder"] for each in listed["books"])
    assert 0 == own.json("library", "list", "--collection", "other")["count"]


@pytest.mark.long
def test_rebuild_makes_the_collection_anew_for_another_embedder(own: Shelf) -> None:
    refused = own.fails("query", "bees", CITEKIT_EMBEDDER="hashing")
    done = own.json("library", "rebuild", CITEKIT_EMBEDDER="hashing")
    found = own.json("query", "nectar and pollen", "--threshold", "0", CITEKIT_EMBEDDER="hashing")

    assert 1 == refused[0]
    assert "citekit library rebuild" in refused[1]
    assert (3, {}) == (done["books"], done["failed"])
    assert "Bees and Volcanoes" == found["results"][0]["book_title"]


@pytest.mark.long
def test_a_rebuild_that_cannot_end_well_drops_nothing(own: Shelf) -> None:
    refused = [
        own.without_extra("library", "rebuild").returncode,
        own("library", "rebuild", CITEKIT_EMBEDDER="nonsense").code,
        own("library", "rebuild", CITEKIT_EMBEDDER="openai", OPENAI_API_KEY="").code,
        own("library", "rebuild", QDRANT_URL="http://127.0.0.1:9").code,
        own("library", "rebuild", "--collection", "other").code,
    ]

    assert [1, 2, 1, 1, 1] == refused
    assert 3 == own.json("library", "stats")["qdrant"]["ingested_books"]
    assert own.json("query", "nectar and pollen")["results"]


@pytest.mark.long
def test_chunking_is_tried_on_a_book_and_on_a_file_and_compared(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "loose.md"
    file.write_text(f"# Bees\n\n{prose(BEES)}\n")

    one = shelf.json("library", "chunking", "test", "1", "--min-words", "20", "--max-words", "60")
    other = shelf.json("library", "chunking", "test", str(file))
    compared = shelf("library", "chunking", "compare", "1")

    assert one["stats"]["max_words"] <= 60
    assert "loose.md" == other["file"]
    assert ["0.40", "0.45", "0.50", "0.55", "0.60"] == [line[:4] for line in compared.out.splitlines()[2:-1]]
    assert compared.out.splitlines()[-1].startswith("Recommended: ")
    assert not (shelf.cli.here / ".citekit_library").exists()


@pytest.mark.long
def test_documents_have_the_keys_of_the_tools(taken_in: Shelf) -> None:
    one = {"book_id": 1}
    tools = taken_in.over_mcp(
        ("alexandria_search", {}),
        ("alexandria_book", one),
        ("alexandria_stats", {}),
        ("alexandria_ingest_preview", {}),
        ("alexandria_test_chunking", one),
        ("alexandria_compare_chunking", one),
        ("alexandria_query", {"query": "nectar and pollen", "guardian": "none"}),
        ("alexandria_guardians", {}),
    )
    commands = [
        taken_in.json(*words.split())
        for words in (
            "library search",
            "library book 1",
            "library stats",
            "library preview",
            "library chunking test 1",
            "library chunking compare 1",
            "query nectar and pollen",
            "library guardians",
        )
    ]

    commands[-1].pop("patterns")
    assert [set(document) for document in tools] == [set(document) for document in commands]
    assert all(document["error"] is None for document in commands)
    assert tools[0] == commands[0]
    same = ("address", "resource_id", "node_id", "location", "score")  # the tool cuts the texts to its budget
    assert [[each[key] for key in same] for each in tools[-2]["results"]] == [
        [each[key] for key in same] for each in commands[-2]["results"]
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("batch", 2, "Select books with --author, --title, or --language, or all books with --all."),
        ("batch --all --min-words 9 --max-words 3", 2, "must not be below the minimum"),
        ("batch --all --collection a/b", 2, "'a/b' is not a valid name for a collection"),
        ("ingest 1 --collection a/b", 2, "'a/b' is not a valid name for a collection"),
        ("ingest one", 2, "'one' is not a valid integer"),
        ("ingest 99", 1, "Book with ID 99 not found"),
        ("ingest 4", 1, "has no text that CiteKit can read. If it is a scan, "),
        ("ingest 5", 1, "Could not locate EPUB file for 'Gone'"),
        ("ingest 1 --threshold 2", 2, "2.0 is not in the range"),
        ("ingest-file gone.epub", 1, "File not found: "),
        ("ingest-file a.epub b.epub --title X", 2, "--title works with exactly one file"),
        ("ingest-file library.txt --author A", 1, "File not found: "),
        ("book 99", 1, "Book with ID 99 not found"),
        ("remove", 2, "Name exactly one book: with RESOURCE, --book-id, or --file."),
        ("remove x --file y", 2, "Name exactly one book: with RESOURCE, --book-id, or --file."),
        ("rebuild", 1, "the collection 'alexandria' contains no books"),
        ("chunking test 99", 1, "Book with ID 99 not found"),
        ("nonsense", 2, "No such command 'nonsense'."),
    ],
)
def test_bad_input_ends_in_one_sentence(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, arguments: str, code: int, said: str
) -> None:
    for name, value in shelf.environment().items():
        monkeypatch.setenv(name, value)

    answer = shelf.cli.within("--json", "library", *arguments.split())

    message = answer.document["error"]["message"]
    assert (code, f"Error: {message}\n") == (answer.code, answer.err)
    assert said in message


@pytest.mark.parametrize(
    ("database", "said"),
    [(None, "Calibre library not found"), (b"not a database, whatever its name is", "metadata.db is damaged")],
)
def test_a_library_that_cannot_be_read_is_one_sentence(
    shelf: Shelf, tmp_path: Path, database: bytes | None, said: str
) -> None:
    folder = tmp_path / "there"
    if database is not None:
        folder.mkdir()
        (folder / "metadata.db").write_bytes(database)

    answers = [
        shelf.fails("library", *words, CALIBRE_LIBRARY_PATH=str(folder)) for words in (("search",), ("batch", "--all"))
    ]

    assert [1, 1] == [code for code, _ in answers]
    assert [] == [message for _, message in answers if said not in message]


def test_a_file_where_a_library_should_be_is_said_to_be_a_file(shelf: Shelf, tmp_path: Path) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(b"PK")

    code, message = shelf.fails("library", "search", CALIBRE_LIBRARY_PATH=str(path))

    assert 1 == code
    assert f"The library must be a folder, but {path} is a file." in message


def test_files_that_are_no_books_are_one_sentence_each(shelf: Shelf, tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as document:
        document.new_page().insert_text((50, 50), "Secret")
        document.save(tmp_path / "sealed.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    (tmp_path / "empty.epub").touch()
    (tmp_path / "bare.md").write_text("Words without a title.\n")

    code, said = shelf.fails("library", "ingest-file", str(tmp_path / "sealed.pdf"), "--title", "A", "--author", "B")
    bare = shelf.fails("library", "ingest-file", str(tmp_path / "bare.md"))
    many = shelf("library", "ingest-file", str(tmp_path))

    assert (1, True) == (code, "encrypted" in said)
    assert (1, "bare.md does not contain its title and author. Ingest it with --title and --author.") == bare
    assert (1, 3) == (many.code, len(many.out.splitlines()))
    assert "Error: 3 of 3 books could not be ingested.\n" == many.err


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [
        ({"CITEKIT_EMBEDDER": "nonsense"}, 2, "There is no embedder named 'nonsense'"),
        ({"CITEKIT_EMBEDDER": "hashing"}, 1, "hashing"),
        ({"QDRANT_URL": "http://127.0.0.1:9"}, 1, "The Qdrant server at http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_a_batch_that_cannot_succeed_ends_before_its_first_book(
    taken_in: Shelf, variables: dict[str, str], code: int, said: str
) -> None:
    answer = taken_in("library", "batch", "--all", **variables)

    assert (code, "", 1) == (answer.code, answer.out, len(answer.err.splitlines()))
    assert said in answer.err


@pytest.mark.long
def test_an_interrupted_batch_shows_a_bar_and_leaves_whole_books(tmp_path: Path) -> None:
    shelf = Shelf.made(tmp_path)
    text = (shelf.library.parent / "long").with_suffix(".md")
    text.write_text("\n\n".join(f"# Part {part}\n\n{prose(BEES, 600)}" for part in range(8)))
    words = ["library", "ingest-file", str(shelf.library / "Ada Writer"), str(text), "--author", "A"]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shelf.cli.here)
        os.execve(sys.executable, [sys.executable, "-m", "citekit", *words], plain_environment(**shelf.environment()))
    shown = _read(terminal, until=b"long.md: ")
    os.kill(child, signal.SIGINT)
    shown += _read(terminal, until=None)
    _, status = os.waitpid(child, 0)

    assert 130 == os.waitstatus_to_exitcode(status)
    assert b"Interrupted." in shown
    assert b"Traceback" not in shown
    assert 1 == shelf.json("library", "stats")["qdrant"]["ingested_books"]
    again = shelf.json(*words)
    assert (1, 1, 0) == tuple(again[key] for key in ("succeeded", "skipped", "failed"))


def _read(terminal: int, until: bytes | None) -> bytes:
    """What the terminal shows until `until`, or the end."""
    shown, end = b"", time.monotonic() + 60
    while time.monotonic() < end and not (until and until in shown):
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        shown += data
    return shown


@pytest.mark.long
def test_the_former_name_of_no_chapters_works_and_says_the_new_name(own: Shelf) -> None:
    answer = own("--json", "library", "ingest", "1", "--force", "--flat")

    assert (0, False) == (answer.code, answer.document["hierarchical"])
    assert "Note: '--flat' is now called '--no-chapters'.\n" == answer.err
