"""Trying and comparing ways to cut a document into chunks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from citekit.adapters.formats.line_reader import LinesTextReader
from citekit.adapters.sources.filesystem import FileSources
from citekit.application.library.compare_chunking import THRESHOLDS, CompareChunking
from citekit.application.library.try_chunking import Sample, TryChunking
from citekit.domain.errors import RequestRefused, SourceUnsupported
from citekit.domain.library.chunking import ChunkingParams, Reason
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent
from tests.doubles.sentence_splitter import RegularExpressionSplitter

SUBJECTS = {"whale": (1.0, 0.0, 0.0), "tea": (0.0, 1.0, 0.0), "star": (0.0, 0.0, 1.0)}


class SubjectEmbedder:
    """Knows three subjects, by one word each; a sentence of two subjects is between both."""

    identity = EmbedderIdentity("subjects", "1", 3)
    window = 80

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Vector:
        found = [vector for word, vector in SUBJECTS.items() if word in text] or [(1.0, 0.0, 0.0)]
        summed = [sum(axis) for axis in zip(*found, strict=True)]
        length = sum(value * value for value in summed) ** 0.5
        return [value / length for value in summed]


def sentence(subject: str) -> str:
    """Five words."""
    return f"This is about a {subject}. "


def written(folder: Path, text: str) -> Path:
    path = folder / "book.txt"
    path.write_text(text, "utf-8")
    return path


def trying() -> TryChunking:
    return TryChunking(FileSources(), LinesTextReader(), RegularExpressionSplitter(), SubjectEmbedder())


def comparing() -> CompareChunking:
    return CompareChunking(FileSources(), LinesTextReader(), RegularExpressionSplitter(), SubjectEmbedder())


def test_a_text_is_cut_where_its_subject_changes(tmp_path: Path) -> None:
    text = sentence("whale") * 4 + sentence("tea") * 6 + sentence("star") * 2

    tried = trying()(written(tmp_path, text), ChunkingParams(0.5, 10, 100))

    assert [20, 30, 10] == [chunk.words for chunk in tried.chunks]
    assert [Reason.START, Reason.SEMANTIC, Reason.SEMANTIC] == [chunk.reason for chunk in tried.chunks]
    assert (60, len(text), 20.0, 10, 30) == (
        tried.total_words,
        tried.total_characters,
        tried.average_words,
        tried.least_words,
        tried.most_words,
    )
    assert ("book.txt", 0.5) == (tried.path.name, tried.params.threshold)


@pytest.mark.parametrize(("count", "places"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (4, [0, 2, 3]), (5, [0, 2, 4])])
def test_the_first_the_middle_and_the_last_chunk_are_samples(tmp_path: Path, count: int, places: list[int]) -> None:
    subjects = [("whale", "tea")[number % 2] for number in range(count)]
    path = written(tmp_path, "\n\n".join(sentence(subject) * 2 for subject in subjects))

    samples = trying()(path, ChunkingParams(0.5, 10, 100)).samples

    assert [Sample(place, 10, (sentence(subjects[place]) * 2).strip()) for place in places] == samples


def test_more_sentences_than_are_embedded_at_once_are_all_compared(tmp_path: Path) -> None:
    path = written(tmp_path, sentence("whale") * 1000 + sentence("tea") * 1500)

    tried = trying()(path, ChunkingParams(0.5, 10, 10_000))

    assert [5000, 7500] == [chunk.words for chunk in tried.chunks]


def test_a_text_without_words_has_no_chunks(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match="No chunks created"):
        trying()(written(tmp_path, " \n \n"), ChunkingParams())


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))

    for use in (lambda: trying()(path, ChunkingParams()), lambda: comparing()(path)):
        with pytest.raises(SourceUnsupported):
            use()


def test_every_threshold_is_compared_and_the_best_recommended(tmp_path: Path) -> None:
    both = "This whale likes its tea. "
    path = written(tmp_path, (sentence("whale") * 4 + both + sentence("tea") * 4) * 3)

    compared = comparing()(path, min_words=10, max_words=200)

    assert list(THRESHOLDS) == [each.threshold for each in compared.comparisons]
    assert (27, 135) == (compared.total_sentences, compared.total_words)
    distribution = compared.similarities
    assert distribution.least < 0.4 < 0.65 == distribution.median <= distribution.most
    assert [3, 3, 6, 6, 6] == [each.chunks for each in compared.comparisons]
    assert [2, 2, 5, 5, 5] == [each.semantic_breaks for each in compared.comparisons]
    best = compared.comparisons[2]
    assert best.coherence == max(each.coherence for each in compared.comparisons)
    assert (0.50, f"Highest coherence ({best.coherence:.3f}) with pure semantic breaks") == (
        compared.recommendation,
        compared.reason,
    )


def test_a_break_is_shown_with_the_text_on_both_sides(tmp_path: Path) -> None:
    path = written(tmp_path, (sentence("whale") * 4 + sentence("tea") * 4) * 4)

    breaks = comparing()(path, min_words=10, max_words=200).comparisons[0].sample_breaks

    assert [(4, Reason.SEMANTIC), (8, Reason.SEMANTIC), (12, Reason.SEMANTIC)] == [
        (each.index, each.reason) for each in breaks
    ]
    assert all(each.similarity < 0.4 for each in breaks)
    assert breaks[0].before.endswith("This is about a whale.")
    assert breaks[0].after.startswith("This is about a tea.")
    assert max(len(breaks[0].before), len(breaks[0].after)) <= 80


def test_forced_breaks_are_counted_and_said(tmp_path: Path) -> None:
    path = written(tmp_path, sentence("whale") * 40)

    compared = comparing()(path, min_words=10, max_words=50)

    assert [(0, 3)] * 5 == [(each.semantic_breaks, each.forced_breaks) for each in compared.comparisons]
    assert [pytest.approx(65.0 - 3 * 20)] * 5 == [each.score for each in compared.comparisons]
    assert "Best coherence (0.650) but 3 forced breaks - consider increasing max_chunk_size" == compared.reason


def test_fewer_than_ten_sentences_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match=r"Not enough sentences \(9\) for comparison"):
        comparing()(written(tmp_path, sentence("whale") * 9))

    assert 10 == comparing()(written(tmp_path, sentence("whale") * 10)).total_sentences
