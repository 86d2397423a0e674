"""Words are found in the text of mapped files, with the real adapters."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock

import pymupdf
import pytest
from attrs import evolve

from citekit.application.find_text import COMPARED, EXACT, FOLLOWING
from citekit.application.index_text import IndexText
from citekit.container import Container, bootstrap
from citekit.domain.errors import Cancelled, RequestRefused, ResourceMissing, SourceMoved, SourceUnsupported
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.found import FoundText
from citekit.domain.text_search.limits import HIT_LIMIT
from citekit.domain.text_search.match_kind import Kind
from citekit.entrypoints.found_text import found_lines
from tests.formats.office.office_files import write_xlsx

GUIDE = """# Bees

The queen lives in the hive.

## Winter food

Bees store honey.
In winter, the hive eats honey.

Honey is stored in
cells of wax.
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "bees.md").write_text(GUIDE)
    (tmp_path / "talk.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,500\nWelcome to the hive.\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\nThe queen sleeps.\n"
    )
    (tmp_path / "code.py").write_text("def queen():\n    return 'hive'\n")
    app = app_of(tmp_path)
    for name in ("bees.md", "talk.srt", "code.py"):
        app.ingest(tmp_path / name)
    return tmp_path


def app_of(home: Path) -> Container:
    return bootstrap(home=home)


def brief(found: FoundText) -> list[tuple[str, str, str]]:
    return [(str(hit.address), hit.kind.name.lower(), hit.text) for hit in found.hits]


def test_lines_of_every_file_are_found_with_their_exact_location(home: Path) -> None:
    found = app_of(home).find_text("hive queen")

    assert [
        ("text://bees_md#lines=3", "line", "The queen lives in the hive."),
        ("text://code_py#lines=1-2", "near", "def queen():\nreturn 'hive'"),
        ("text://talk_srt#lines=3-7", "near", "Welcome to the hive.\nThe queen sleeps."),
    ] == sorted(brief(found))
    assert (3, 3) == (found.total, found.searched)


def test_a_search_that_is_cancelled_while_it_reads_a_text_is_cancelled(home: Path) -> None:
    class CancelledReading(IndexText):
        def __call__(self, *_: object) -> NoReturn:
            raise Cancelled("The request was cancelled.")

    find = app_of(home).find_text
    index = find.indexed

    with pytest.raises(Cancelled):
        evolve(find, indexed=CancelledReading(index.locate, index.texts, index.index))("hive", ["bees_md", "code_py"])


def test_headings_come_first_with_their_node_and_path_of_titles(home: Path) -> None:
    (best, *_) = app_of(home).find_text("winter food", ["bees_md"]).hits

    assert ("heading", "Winter food") == (best.kind.name.lower(), best.text)
    assert ["Bees", "Winter food"] == list(best.titles)
    assert best.node is not None


def test_the_limit_cuts_the_list_and_not_the_total(home: Path) -> None:
    found = app_of(home).find_text("hive", limit=1)

    assert (1, 4) == (len(found.hits), found.total)
    assert "4 matches, the best 1 shown" == next(found_lines(found))


@pytest.mark.long
def test_words_on_very_many_pages_are_compared_on_some_of_them_and_the_answer_says_so(tmp_path: Path) -> None:
    app = app_of(tmp_path)
    for number in range(EXACT + 2):
        (tmp_path / f"{number}.md").write_text(f"# Notes {number}\n\nA hive.\n")
        app.ingest(tmp_path / f"{number}.md")
    (tmp_path / "z.md").write_text("# Hive\n\nNo other title has the word of a hive.\n")
    app.ingest(tmp_path / "z.md")

    found = app.find_text("hive", limit=3)

    assert ["Hive", "A hive.", "A hive."] == [hit.text.lstrip("# ") for hit in found.hits]
    assert EXACT + 3 == found.pages
    assert COMPARED <= found.total < EXACT
    assert "At least" in next(found_lines(found))
    assert 1 == app.find_text('"other title"').total
    assert EXACT + 3 == app.find_text("hive no").searched


@pytest.mark.parametrize("query", ['"in winter"', '"in winter" welcome'])  # no page has all words of the second
def test_context_lines_are_shown_around_a_hit(home: Path, query: str) -> None:
    (hit,) = app_of(home).find_text(query, context_lines=1).hits

    assert (["Bees store honey."], ["Honey is stored in"]) == (list(hit.before), list(hit.after))


def test_a_question_shows_the_lines_after_the_best_ones_of_the_first_page(tmp_path: Path) -> None:
    lines = ["The purchase of the mill was agreed.", "It cost 201 guilders."]
    (tmp_path / "deeds.md").write_text(
        "\n".join(["# Deeds", *lines, *("Filler that is of no use. " * 4 for _ in range(9))])
    )
    app = app_of(tmp_path)
    app.ingest(tmp_path / "deeds.md")

    hit = app.find_text("What price had the purchase of the mill?", ["deeds_md"]).hits[0]
    with_context = app.find_text("What price had the purchase of the mill?", ["deeds_md"], context_lines=1).hits[0]

    assert lines[0] in hit.text.split("\n")
    assert lines[1] in [*hit.text.split("\n"), *hit.after]
    assert sum(map(len, hit.after)) <= FOLLOWING[0]
    assert 1 == len(with_context.after)


def test_a_few_hits_are_shown_with_the_lines_after_them_and_many_are_not(tmp_path: Path) -> None:
    (tmp_path / "few.md").write_text("# Wax\n\nWax cells are made in June.\nThey hold honey.\n")
    (tmp_path / "many.md").write_text("# Sugar\n\n" + "Sugar syrup is food.\nIt is sweet.\n" * 9)
    app = app_of(tmp_path)
    app.ingest(tmp_path / "few.md")
    app.ingest(tmp_path / "many.md")

    (hit,) = app.find_text("wax cells").hits
    assert (["They hold honey."], []) == (list(hit.after), list(hit.before))
    assert not any(hit.after for hit in app.find_text("sugar syrup").hits)
    assert not any(hit.after for hit in app.find_text("wax c.lls", regex=True).hits)


def test_words_that_are_far_apart_are_followed_by_pages_that_answer_better(tmp_path: Path) -> None:
    far = "The queen is old.\n" + "Nothing happens here.\n" * 9 + "A hive stands by the minimum wall.\n"
    (tmp_path / "far.md").write_text(f"# Walls\n\n{far}")
    (tmp_path / "close.md").write_text("# Hives\n\nThe minimum size of a hive for queens is one box.\n")
    app = app_of(tmp_path)
    app.ingest(tmp_path / "far.md")
    app.ingest(tmp_path / "close.md")

    found = app.find_text("minimum hive queen")
    assert ("scattered", 1, 1) == (found.hits[0].kind.name.lower(), found.total, len(found.whole))
    assert "text://close_md#lines=3" in [str(hit.address) for hit in found.hits if hit.kind.name == "PARTIAL"]
    assert any("may answer better" in line for line in found_lines(found))
    quoted = app.find_text('"queen" "minimum"')
    assert {"SCATTERED"} == {hit.kind.name for hit in quoted.hits}


def test_the_lines_after_a_hit_go_on_on_the_next_page_without_its_header(tmp_path: Path) -> None:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for number, lines in enumerate(
            (["Dividends were declared in four classes:"], ["Class A: 1.20", "Class B: 0.80"]), 1
        ):
            page = document.new_page()
            for row, line in enumerate(["Acme Annual Report", f"Page {number}", *lines]):
                page.insert_text((72, 72 + 40 * row), line)
        document.new_page().insert_text((72, 72), "Unrelated.")
        document.save(tmp_path / "acme.pdf")
    app = app_of(tmp_path)
    app.ingest(tmp_path / "acme.pdf")

    (hit,) = app.find_text("dividends declared").hits
    assert ["[page 2]", "Class A: 1.20", "Class B: 0.80"] == list(hit.after)
    (hit,) = app.find_text("dividends 4 classes").hits
    assert ("doc://acme#pages=1", "Dividends were declared in four classes:") == (str(hit.address), hit.text)
    found = app.find_text('"declared in" classes zeppelins')
    assert [("doc://acme#pages=1", Kind.PARTIAL)] == [(str(hit.address), hit.kind) for hit in found.hits]
    assert (0, ["zeppelins"]) == (found.total, list(found.absent))
    assert [] == app.find_text("unrelated", context_lines=3).hits[0].after


def test_the_text_of_a_removed_resource_is_not_kept_in_the_index(home: Path) -> None:
    app = app_of(home)
    app.find_text("honey")

    app.remove("bees_md")

    assert {"talk_srt", "code_py"} == set(app.text_index.versions(["bees_md", "talk_srt", "code_py"]))
    assert 0 == app.find_text("honey").total


def test_a_resource_that_is_not_there_is_not_removed(home: Path) -> None:
    with pytest.raises(ResourceMissing):
        app_of(home).remove("none")


def test_a_pattern_is_searched_for_in_lines(home: Path) -> None:
    assert [("text://bees_md#lines=8", "line", "In winter, the hive eats honey.")] == brief(
        app_of(home).find_text(r"^in\b.*hon[aeiou]y\.$", regex=True)
    )


def test_a_resource_may_be_named_by_its_address(home: Path) -> None:
    app = app_of(home)

    assert brief(app.find_text("honey", ["text://bees_md"])) == brief(app.find_text("honey", ["bees_md"]))
    with pytest.raises(ResourceMissing, match="bees_md"):
        app.find_text("honey", ["bees_m"])


def test_words_that_are_nowhere_are_reported(home: Path) -> None:
    found = app_of(home).find_text('honey "zeppelin"')

    assert ([], ["zeppelin"]) == (list(found.hits), list(found.absent))
    assert "Not in the searched text: zeppelin" in list(found_lines(found))


@pytest.mark.parametrize("names", [[], ["bees_md"]])
@pytest.mark.parametrize(("query", "instead"), [("hives", {"hives": "hive"}), ("storing honeys", {"storing": "store"})])
def test_another_form_of_a_word_that_is_nowhere_is_found(
    query: str, instead: dict[str, str], names: list[str], home: Path
) -> None:
    found = app_of(home).find_text(query, names)

    assert found.whole
    assert found.instead.items() >= instead.items()
    word, form = next(iter(instead.items()))
    assert word in found.absent
    assert f"{word} (found instead: {form})" in list(found_lines(found))[-1]


def test_no_other_form_of_a_quoted_word_is_found(home: Path) -> None:
    found = app_of(home).find_text('"hives"')

    assert ([], ["hives"], {}) == (list(found.hits), list(found.absent), dict(found.instead))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE text SET version = x'00'",
        "UPDATE block SET code = x'00'",
        "UPDATE block SET data = 'abc'",
        "DELETE FROM term_data",
    ],
)
def test_a_damaged_index_is_filled_again_before_the_answer(home: Path, damage: str) -> None:
    expected = app_of(home).find_text("queen")
    (path,) = home.glob(".citekit_cache/texts-*/text.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)

    assert expected == app_of(home).find_text("queen")


def test_a_changed_file_is_answered_from_its_mapped_text_and_marked_stale(home: Path) -> None:
    app = app_of(home)
    app.find_text("honey")
    (home / "bees.md").write_text("# Wasps\n\nNo honey.\n")

    found = app.find_text("honey", ["bees_md"])

    assert 3 == found.total
    assert "changed" in found.stale["bees_md"]
    (home / "bees.md").unlink()
    assert 3 == app.find_text("honey", ["bees_md"]).total


def test_a_changed_file_that_was_never_indexed_is_refused_alone_and_skipped_among_others(home: Path) -> None:
    (home / "bees.md").unlink()
    app = app_of(home)

    with pytest.raises(SourceMoved):
        app.find_text("honey", ["bees_md"])
    found = app.find_text("hive")
    assert ["bees_md"] == list(found.skipped)
    assert 2 == found.searched


def test_a_changed_file_that_is_mapped_again_is_indexed_again(home: Path) -> None:
    app = app_of(home)
    app.find_text("honey")
    (home / "bees.md").write_text("# Wasps\n\nThey eat jam.\n")
    app.ingest(home / "bees.md", force=True)

    assert 0 == app.find_text("honey", ["bees_md"]).total
    assert [("text://bees_md#lines=3", "line", "They eat jam.")] == brief(app.find_text("jam"))


def test_a_picture_without_text_is_refused_and_the_others_answer(home: Path) -> None:
    from PIL import Image

    Image.new("RGB", (20, 20), "white").save(home / "blank.png")
    app = app_of(home)
    app.ingest(home / "blank.png")

    with pytest.raises(SourceUnsupported):
        app.find_text("hive", ["blank"])
    assert ["blank"] == list(app.find_text("hive").skipped)


def test_a_file_without_text_is_not_read_again_until_it_changes(home: Path) -> None:
    from PIL import Image

    texts = Mock(wraps=app_of(home).quotable)
    app = bootstrap(home=home, quotable=texts)
    for color in ("white", "gray"):
        Image.new("RGB", (20, 20), color).save(home / "blank.png")
        app.ingest(home / "blank.png")
        for words in ("hive", "queens of the hive", "what is absent?"):
            assert ["blank"] == list(app.find_text(words).skipped)

    assert 2 == [call.args[0].path.name for call in texts.read.call_args_list].count("blank.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"context_lines": -1}, "context"),
        ({"regex": True}, "empty"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(home: Path, arguments: dict[str, int], message: str) -> None:
    with pytest.raises(RequestRefused, match=message):
        app_of(home).find_text("" if "regex" in arguments else "hive", **arguments)  # type: ignore[arg-type]


def test_words_that_readers_do_not_see_are_marked_and_come_last(tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        page.insert_text((72, 72), "The secret of honey")
        page.insert_text((72, 200), "A secret in white", color=(1, 1, 1))
        document.save(tmp_path / "page.pdf")
    app = app_of(tmp_path)
    app.ingest(tmp_path / "page.pdf")

    found = app.find_text("secret")

    assert [("The secret of honey", False), ("A secret in white", True)] == [
        (hit.text, hit.hidden) for hit in found.hits
    ]
    assert "  > A secret in white [hidden from readers]" in list(found_lines(found))


def test_the_cells_of_a_row_are_on_one_line(tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        for row, cells in enumerate((("", "2020", "2019"), ("Total assets", "24,284", "20,762"))):
            for column, cell in enumerate(cells):
                page.insert_text((72 + 150 * column, 72 + 14 * row), cell)
        document.save(tmp_path / "table.pdf")
    app = app_of(tmp_path)
    app.ingest(tmp_path / "table.pdf")

    assert [("doc://table#pages=1", "line", "Total assets | 24,284 | 20,762")] == brief(app.find_text("24,284"))
    assert app.verify_quote("table", "Total assets 24,284 20,762").holds


@pytest.mark.parametrize("query", ["hive", "hive queen", '"the hive"', "honey", "queen zeppelin", "zeppelin"])
def test_a_search_of_everything_is_the_union_of_the_searches_of_each_resource(home: Path, query: str) -> None:
    app = app_of(home)
    names = list(app.maps.ids())

    found = app.find_text(query, limit=HIT_LIMIT)

    assert found == app.find_text(query, names, limit=HIT_LIMIT)
    single = [app.find_text(query, [name], limit=HIT_LIMIT) for name in names]
    assert found.total == sum(each.total for each in single)
    assert sorted(brief(found)) == sorted(hit for each in single for hit in brief(each))


def test_a_pattern_is_searched_for_in_everything_as_in_each_resource(home: Path) -> None:
    app = app_of(home)

    found = app.find_text("h[io]", regex=True)

    assert found.total > 3
    assert found == app.find_text("h[io]", list(app.maps.ids()), regex=True)


class MapsRead:
    """Counts the maps that a container reads."""

    def __init__(self, app: Container, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        read = app.maps.get

        def counted(resource_id: str, version: str | None = None) -> ResourceMap:
            self.names.append(resource_id)
            return read(resource_id, version)

        monkeypatch.setattr(app.maps, "get", counted)


@pytest.fixture
def old_home(home: Path) -> Path:
    """The home, a while after its files were mapped and indexed."""
    at = time.time() - 60
    for path in home.rglob("*"):
        if path.is_file():
            os.utime(path, (at, at))
    time.sleep(0.1)  # the time of the last change of a file cannot be set
    app_of(home).find_text("honey")
    return home


def test_only_the_maps_of_files_with_hits_are_read_also_by_another_process(
    old_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        app = app_of(old_home)
        read = MapsRead(app, monkeypatch)
        assert 2 == len(app.find_text("honey", limit=2).hits)
        assert 0 == app.find_text("zeppelin").total
        assert ["bees_md"] == read.names


def test_a_file_that_another_process_maps_or_removes_is_noticed(old_home: Path) -> None:
    ours, theirs = app_of(old_home), app_of(old_home)
    assert 0 == ours.find_text("zeppelin").total

    (old_home / "new.txt").write_text("A zeppelin over the hive\n")
    theirs.ingest(old_home / "new.txt")
    found = ours.find_text("zeppelin")
    assert (["text://new_txt#lines=1"], 4) == ([str(hit.address) for hit in found.hits], found.searched)
    assert found == app_of(old_home).find_text("zeppelin")

    theirs.remove("new_txt")
    found = ours.find_text("zeppelin")
    assert (0, 3, ["zeppelin"]) == (found.total, found.searched, list(found.absent))


def test_the_text_of_a_map_that_was_deleted_by_hand_is_not_found(old_home: Path) -> None:
    app = app_of(old_home)
    assert 3 == app.find_text("honey").total

    (path,) = old_home.glob("*/bees_md.json")
    path.unlink()

    assert (0, 2) == (app.find_text("honey").total, app.find_text("honey").searched)
    assert 0 == app_of(old_home).find_text("honey").total


def test_a_file_that_another_process_maps_again_is_searched_in_its_new_text(old_home: Path) -> None:
    ours, theirs = app_of(old_home), app_of(old_home)
    assert 0 == ours.find_text("jam").total

    (old_home / "bees.md").write_text("# Wasps\n\nThey eat jam.\n")
    theirs.ingest(old_home / "bees.md", force=True)

    assert [("text://bees_md#lines=3", "line", "They eat jam.")] == brief(ours.find_text("jam"))
    assert 0 == ours.find_text("honey").total


def test_texts_are_read_again_by_another_version_of_the_reader(old_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(app_of(old_home).text_index.texts())
    monkeypatch.setattr("citekit.adapters.quotes.texts.VERSION", "next")

    app = app_of(old_home)

    assert 0 == app.find_text("zeppelin").total
    after = app.text_index.texts()
    assert before.keys() == after.keys()
    assert all(" next " in after[name].version != before[name].version for name in after)


def test_an_index_of_an_earlier_form_is_filled_again_once(old_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = app_of(old_home).find_text("queen")
    (path,) = old_home.glob(".citekit_cache/texts-*/text.db")
    for each in path.parent.glob("text.db*"):
        each.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE text (resource_id TEXT PRIMARY KEY)")
        connection.execute("PRAGMA user_version = 12345")

    assert expected == app_of(old_home).find_text("queen")
    app = app_of(old_home)
    read = MapsRead(app, monkeypatch)
    assert 0 == app.find_text("zeppelin").total
    assert [] == read.names


def test_in_a_search_of_everything_only_files_with_hits_are_checked(old_home: Path) -> None:
    app = app_of(old_home)
    (old_home / "bees.md").write_text("# Wasps\n\nNo honey.\n")

    assert {} == app.find_text("sleeps").stale
    found = app.find_text("honey")
    assert (3, ["bees_md"]) == (found.total, list(found.stale))
    assert 3 == app.find_text("hive", ["talk_srt", "code_py", "bees_md"]).searched


def test_the_indexed_text_of_a_file_that_may_not_be_read_is_not_searched(
    old_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = app_of(old_home)
    (old_home / "new.txt").write_text("A secret zeppelin\n")
    mapped = app.ingest(old_home / "new.txt").resource_map
    outside = (old_home / "new.txt").rename(tmp_path_factory.mktemp("outside") / "secret.txt")
    app.remove(mapped.resource_id)
    app.maps.put(evolve(mapped, resource_id="secret", source_path=str(outside)))
    assert 1 == app.find_text("zeppelin").total

    found = app.for_clients().find_text("zeppelin")

    assert (0, 3, ["secret"], ["zeppelin"]) == (found.total, found.searched, list(found.skipped), list(found.absent))


def test_rows_of_tables_have_their_column_headings(home: Path) -> None:
    (home / "cities.csv").write_text("City,Country,People\n" + "".join(f"City{i},AT,{i}000\n" for i in range(500)))
    (home / "page.html").write_text(
        "<p>Text.</p><table><tr><th>Part<th>2022<th>2021</tr><tr><td>Wax<td>7<td>8</tr></table>"
    )
    (home / "other.py").write_text("'''Parts\\t2022\\t2021'''\nWax\t=\t7\t# 8\n")
    app = app_of(home)
    for name in ("cities.csv", "page.html", "other.py"):
        app.ingest(home / name)

    found = app.find_text("City499", ["cities_csv"])
    assert ["City, Country, People"] == [hit.columns for hit in found.hits]
    assert "    columns: City, Country, People" in found_lines(found)
    assert [None] == [hit.columns for hit in app.find_text("City People", ["cities_csv"]).hits]
    assert ["Part | 2022 | 2021"] == [hit.columns for hit in app.find_text("wax", ["page_html"]).hits]
    assert [None] == [hit.columns for hit in app.find_text("wax", ["other_py"]).hits]


def test_rows_of_a_sheet_have_the_columns_of_their_table(home: Path) -> None:
    write_xlsx(home / "book.xlsx")
    app = app_of(home)
    app.ingest(home / "book.xlsx")

    assert ["Item, Cost, Date, City, People"] == [hit.columns for hit in app.find_text("Wien", ["book"]).hits]
    assert [None] == [hit.columns for hit in app.find_text("Item Cost", ["book"]).hits]
