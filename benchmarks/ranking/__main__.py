"""Measures the ranking of pages: python -m benchmarks.ranking HOME QUESTIONS... --documents FOLDER... [--fit]

HOME is a folder for the maps and indexes, which is used again. QUESTIONS are files as in benchmarks/ranking/questions. A
document is looked for in the folders by its name. With --fit, weights are fitted to the questions and printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.ranking.figures import HEAD, TOP, Outcome, row
from benchmarks.ranking.fit import BY_MEANING, SECOND_STAGE, examples, fitted
from benchmarks.ranking.questions import Question, from_file
from benchmarks.ranking.rankings import Ranking, mapped, rankings
from citekit import CiteKit
from citekit.container import Container

STRONG = 0.5
"""The default threshold of the library."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--only-asked", action="store_true", help="map only documents that a question names")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    app = CiteKit(given.home.resolve()).app
    files = {path.name: path for folder in given.documents for path in sorted(folder.iterdir()) if path.is_file()}
    sets = {path.stem: from_file(path, files) for path in given.questions}
    asked = {question.document for questions in sets.values() for question in questions}
    wanted = [path for name, path in files.items() if name in asked or not given.only_asked]
    names = mapped(app, [path.resolve() for path in wanted])
    for name, questions in sets.items():
        _show(app, name, questions, names)
    if given.fit:
        known = {
            name: examples(app, [each for each in questions if each.document in names and each.has_answer], names)
            for name, questions in sets.items()
        }
        for title, without in (("pages", ()), ("without vectors", BY_MEANING), ("first stage", SECOND_STAGE)):
            print(f"{title}: {fitted(known, without)}")


def _show(app: Container, name: str, questions: Sequence[Question], names: dict[str, str]) -> None:
    every = list(names.values())
    answered = [each for each in questions if each.has_answer]
    for title, whole in (("the document is given", False), ("everything is searched", True)):
        print(f"\n{name}: {len(questions)} questions, {title} ({len(every)} documents)\n\n{HEAD}")
        for ranking, rank in rankings(app).items():
            if answered and not (whole and ranking.startswith("BM25") and len(every) > 200):
                print(row(ranking, [_outcome(rank, each, names, every if whole else None) for each in answered]))
    none = [each for each in questions if not each.has_answer]
    if none:
        weak = sum(
            all(page.score < STRONG for page in app.rank_pages(each.text, every, limit=1).pages) for each in none
        )
        print(f"Questions without an answer: {weak} of {len(none)} have no page with a score of {STRONG} or more.")


def _outcome(rank: Ranking, question: Question, names: dict[str, str], every: list[str] | None) -> Outcome:
    name = names.get(question.document)
    if name is None:  # it has no text
        return Outcome(0, 0, 0, 0, 0)
    start = perf_counter()
    pages = rank(question.text, every or [name])
    seconds = perf_counter() - start
    right = [own == name and question.is_answered_by(number, text) for own, number, text in pages[:TOP]]
    recall = sum(right) / len(question.pages) if question.pages else float(any(right))
    return Outcome(
        float(right[:1] == [True]),
        float(any(right)),
        min(1.0, recall),
        float(bool(pages) and pages[0][0] == name),
        seconds,
    )


if __name__ == "__main__":
    main()
