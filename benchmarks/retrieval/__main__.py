"""`python -m benchmarks.retrieval CORPUS_DIR [--static]`: the table of figures and the two distributions of scores."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from attrs import asdict

from benchmarks.report import RESULTS
from benchmarks.retrieval import confidence, figures, truth
from benchmarks.retrieval.figures import Figures
from benchmarks.retrieval.reference import ReferenceBm25
from benchmarks.retrieval.searching import Searcher
from citekit.adapters.search.embedders.combined import JoinedEmbedder
from citekit.adapters.search.embedders.minilm import MiniLmEmbedder
from citekit.adapters.search.embedders.static import StaticEmbedder
from citekit.domain.library.fusion import calibration_of
from citekit.domain.ports.embedder import Embedder

Table = dict[str, dict[str, Figures]]
"""Figures by way of searching, then by set of questions."""


def embedders(static_only: bool) -> dict[str, Embedder]:
    """The embedders that run here, by the name in the table."""
    static = StaticEmbedder()
    if static_only:
        return {"static": static}
    minilm = MiniLmEmbedder()
    return {"static": static, "MiniLM": minilm, "joined": JoinedEmbedder(((static, 0.4), (minilm, 0.6)))}


def measure(truths: list[truth.Truth], chosen: dict[str, Embedder]) -> tuple[Table, dict[str, Any]]:
    """All figures, and for each embedder how scores lie."""
    table: Table = {}
    scores: dict[str, Any] = {}
    for each in truths:
        reference = ReferenceBm25(each.texts)
        _enter(table, "BM25 reference", each, {name: _reference(reference, qs) for name, qs in each.sets.items()})
    for name, embedder in chosen.items():
        searchers = {each.name: Searcher(each.texts, embedder) for each in truths}
        for each in truths:
            for way, of_sets in _ways(searchers[each.name], each, name).items():
                _enter(table, way, each, of_sets)
        scores[name] = confidence.measured(truths, searchers, calibration_of(embedder.identity.name))
        for searcher in searchers.values():
            searcher.close()
    return table, scores


def _enter(table: Table, way: str, each: truth.Truth, of_sets: dict[str, Figures]) -> None:
    table.setdefault(way, {}).update({f"{each.name} {name}": value for name, value in of_sets.items()})


def _reference(reference: ReferenceBm25, queries: tuple[truth.Query, ...]) -> Figures:
    return figures.of([(reference.rank(query.text), query.relevant) for query in queries])


def _ways(searcher: Searcher, each: truth.Truth, name: str) -> dict[str, dict[str, Figures]]:
    ways: dict[str, dict[str, Figures]] = {}
    for set_name, queries in each.sets.items():
        answers = [(searcher.search(query.text), query.relevant) for query in queries]
        for way in ("words", "meaning", "both"):
            rankings = [([one.group for one in getattr(found, way)], relevant) for found, relevant in answers]
            label = "words" if way == "words" else f"{way}: {name}"
            ways.setdefault(label, {})[set_name] = figures.of(rankings)
    return ways


def show(table: Table) -> None:
    """nDCG@10 / recall@10 / MRR, a row for each set of questions."""
    for set_name in next(iter(table.values())):
        print(f"\n  {set_name:32} {'nDCG@10':>8} {'recall@10':>10} {'MRR':>7}")
        for way, of_sets in table.items():
            one = of_sets[set_name]
            print(f"    {way:30} {one.ndcg:8.3f} {one.recall:10.3f} {one.mrr:7.3f}")


def main() -> None:
    """Measure, print, and write results/retrieval.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("corpus", type=Path, help="the folder that holds ir/ and pdf/")
    parser.add_argument("--static", action="store_true", help="without MiniLM, which embeds some 40 passages a second")
    parser.add_argument("--tuned", action="store_true", help="only the sets on which scores were calibrated")
    options = parser.parse_args()
    truths = [each for each in truth.truths(options.corpus) if each.tuned or not options.tuned]
    if not truths:
        parser.error(f"{options.corpus} holds neither ir/arxiv-tags nor a PDF with a known index")
    table, scores = measure(truths, embedders(options.static))
    show(table)
    confidence.show(scores)
    RESULTS.mkdir(exist_ok=True)
    plain = {way: {name: asdict(one) for name, one in of_sets.items()} for way, of_sets in table.items()}
    (RESULTS / "retrieval.json").write_text(json.dumps({"figures": plain, "scores": scores}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
