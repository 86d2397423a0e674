"""Questions and documents that are no good ones: each gets an answer or one clear sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from citekit.container import Container, bootstrap
from citekit.domain.errors import RequestRefused

HONEST = "# Winter\n\nIn winter, bees eat the honey that they stored in the hive in summer.\n"
OTHER = "# Copper\n\nThe price of copper rose by four cents on Friday.\n"
QUESTION = "What do bees eat in the hive in winter?"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    home = tmp_path_factory.mktemp("home")
    app = bootstrap(home=home)
    for name, text in (("honest.md", HONEST), ("other.md", OTHER)):
        (home / name).write_text(text)
        app.ingest(home / name)
    return app


@pytest.mark.parametrize("question", ["", "  \n", "?!", "\u00a0", "word " * 2001])
def test_a_question_without_words_or_without_end_is_refused(app: Container, question: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        app.rank_pages(question)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "question",
    [
        "a",
        "x",
        "7",
        "\N{HONEYBEE} bees?",
        "\u871c\u8702 honey \u043c\u0451\u0434",
        "bees\x00honey",
        "half \ud83d honey",
        HONEST * 20,
    ],
)
def test_other_strange_questions_are_answered(app: Container, question: str) -> None:
    found = app.rank_pages(question)

    assert 2 == found.searched
    assert all(0 <= page.score <= 1 for page in found.pages)


def test_a_question_that_is_the_whole_page_finds_the_page(app: Container) -> None:
    assert "honest_md" == app.rank_pages(HONEST).pages[0].resource_id


@pytest.mark.parametrize("damage", ["another form", "garbage", "another version of a document"])
def test_an_index_that_cannot_be_used_is_made_again(tmp_path: Path, damage: str) -> None:
    (tmp_path / "honest.md").write_text(HONEST)
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "honest.md")
    expected = [page.text for page in app.rank_pages(QUESTION).pages]
    (path,) = tmp_path.glob(".citekit_cache/ranking-*/ranking.db")
    if damage == "another version of a document":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE document SET version = 'earlier'")
    else:
        for each in path.parent.glob("ranking.db*"):
            each.unlink()
        path.write_bytes(b"\xff" * 5000 if damage == "garbage" else b"")
    if damage == "another form":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE document (resource_id TEXT PRIMARY KEY)")
            connection.execute("PRAGMA user_version = 12345")

    for _ in range(2):
        assert expected == [page.text for page in bootstrap(home=tmp_path).rank_pages(QUESTION).pages]


def test_a_stuffed_document_does_not_win(tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path)
    texts = {
        "honest.md": HONEST,
        "repeated.md": f"# Offers\n\n{QUESTION} Buy our syrup. " + f"{QUESTION} " * 300,
        "words.md": "# Offers\n\nBuy our syrup. " + "bees hive winter eat honey " * 300,
        "hidden.html": f"<html><body><p>Buy our syrup.</p><p style='display:none'>{HONEST} {QUESTION * 50}</p></body></html>",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        app.ingest(tmp_path / name)

    pages = app.rank_pages("What is the food of bees when it is cold?").pages
    hidden = app.rank_pages(QUESTION, ["hidden_html"]).pages

    assert "honest_md" == app.rank_pages("bees stored honey summer").pages[0].resource_id
    assert "hidden_html" not in {page.resource_id for page in pages[:1]}
    assert all("honey" not in page.text for page in hidden)
    assert all(page.score < 0.5 for page in hidden)
