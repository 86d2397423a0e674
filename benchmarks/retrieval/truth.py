"""Questions whose answers are known: what people tagged, what authors put into their indexes, and questions of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pymupdf
from attrs import field, frozen

from benchmarks.retrieval import back_matter

QUESTIONS = Path(__file__).with_name("questions.json")
MANY = 700
"""Of a longer index every fourth entry is asked."""


def _ids(given: Iterable[str]) -> frozenset[str]:
    return frozenset(given)


@frozen
class Query:
    """What is asked, and the ids of all texts that answer it."""

    text: str
    relevant: frozenset[str] = field(converter=_ids)


@frozen
class Truth:
    """Texts by id, and sets of questions by name. `tuned` tells whether scores were calibrated on it."""

    name: str
    texts: Mapping[str, str]
    sets: Mapping[str, tuple[Query, ...]]
    tuned: bool = True


@frozen
class Book:
    """A PDF with a printed index: text up to page `text`, index on the pages `index` (first, last), from 1."""

    name: str
    text: int
    index: tuple[int, int]
    tuned: bool


BOOKS = (
    Book("lilypond-learning", 211, (215, 221), True),
    Book("r-exts", 229, (230, 236), True),
    Book("r-intro", 107, (108, 112), False),
    Book("lilypond-notation", 888, (889, 929), False),
)


def truths(corpus: Path) -> Iterator[Truth]:
    """Every truth whose files are in the corpus."""
    if (corpus / "ir" / "arxiv-tags" / "docs.jsonl").exists():
        yield _tags(corpus / "ir" / "arxiv-tags")
    ours = json.loads(QUESTIONS.read_text("utf-8"))
    for book in BOOKS:
        path = corpus / "pdf" / f"{book.name}.pdf"
        if path.exists():
            yield _book(book, path, corpus / "ir" / "page-index" / f"{book.name}.jsonl", ours.get(book.name, []))


def _tags(folder: Path) -> Truth:
    """Abstracts, and the topics that people gave them; `alt` asks for the same topics under their other names."""
    texts = {each["doc_id"]: f"{each['title']}. {each['text']}" for each in _lines(folder / "docs.jsonl")}
    asked = list(_lines(folder / "queries.jsonl"))
    tags = tuple(Query(each["query"], each["relevant"]) for each in asked)
    others = tuple(Query(name, each["relevant"]) for each in asked for name in each["alt"])
    return Truth("arxiv-tags", texts, {"all": tags, "alt": others})


def _book(book: Book, path: Path, listed: Path, ours: list[dict[str, Any]]) -> Truth:
    with pymupdf.open(path) as document:
        texts = {str(number + 1): document[number].get_text() for number in range(book.text)}
        entries = _lines(listed) if listed.exists() else back_matter.entries(document, *book.index)
        found = [Query(each["query"], map(str, each["pages"])) for each in entries if max(each["pages"]) <= book.text]
    queries = tuple(found if len(found) <= MANY else found[::4])
    sets = {"all": queries, "multi": tuple(query for query in queries if _of_several_words(query.text))}
    if ours:
        sets["questions"] = tuple(Query(each["query"], map(str, each["pages"])) for each in ours)
    return Truth(book.name, texts, sets, book.tuned)


def _of_several_words(text: str) -> bool:
    plain = re.fullmatch(r"[A-Za-z][A-Za-z ,:'-]+", text)
    return plain is not None and len(re.findall(r"[A-Za-z]{3,}", text)) >= 2


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())
