"""Every PDF of the corpus gives a map and evidence that PDFium agrees with, or one clear error."""

from __future__ import annotations

import random
from pathlib import Path

import pypdfium2
import pytest

from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import make_nodes
from citekit.domain.digest import Digest
from citekit.domain.errors import SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.node import Node
from citekit.domain.progress import silent
from citekit.domain.source import Source

pytestmark = pytest.mark.corpus

UNREADABLE = {
    "broken-bad1", "broken-issue141a", "broken-issue335b", "broken-issue99", "fuzz-poppler-67295", "fuzz-poppler-742",
    "fuzz-poppler-85140", "invalid-03", "invalid-44-bytes",
}  # fmt: skip
ENCRYPTED = {
    "enc-password-openpassword", "enc-password-test", "enc-r3-asdfzxcv", "enc-r4aes-asdfzxcv", "enc-r6-foo-bar",
    "enc-rc4-40",
}  # fmt: skip


def source(path: Path) -> Source:
    return Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])


def files(corpus: Path) -> list[Path]:
    return sorted((corpus / "pdf").glob("*.pdf"))


def text_of(page: pypdfium2.PdfPage) -> str:
    return str(page.get_textpage().get_text_range())


def test_every_file_is_mapped_or_refused_clearly(corpus: Path) -> None:
    refused = {}
    for path in files(corpus):
        try:
            outline = PdfOutliner().outline(source(path), silent)
        except SourceUnsupported as error:
            refused[path.stem] = str(error)
            continue
        nodes = [node for root in make_nodes(outline) for node in root.walk()]
        assert nodes, path.name
        assert all(node.location.contains(child.location) for node in nodes for child in node.children), path.name

    assert set(refused) == UNREADABLE | ENCRYPTED
    assert {name for name, says in refused.items() if "needs its password" in says} == ENCRYPTED


def test_a_sample_of_nodes_is_cut_as_another_tool_reads_it(corpus: Path, tmp_path: Path) -> None:
    chance = random.Random(20)
    for path in files(corpus):
        if path.stem in UNREADABLE | ENCRYPTED:
            continue
        nodes = [node for root in make_nodes(PdfOutliner().outline(source(path), silent)) for node in root.walk()]
        nodes = [node for node in nodes if isinstance(node.location, Pages) and node.location.region is None]
        for place, node in enumerate(chance.sample(nodes, min(3, len(nodes)))):
            _check(path, node, tmp_path / f"{path.stem}-{place}.pdf")


def _check(path: Path, node: Node, target: Path) -> None:
    assert isinstance(node.location, Pages)
    made = PyMuPdfExtractor().extract(source(path), node.location, Options(Form.PDF), target)
    whole, part = pypdfium2.PdfDocument(path), pypdfium2.PdfDocument(target)
    assert (len(part), made.extent) == (len(node.location.numbers), node.location), path.name
    for position, number in list(enumerate(node.location.numbers))[:5]:
        before, after = whole[number - 1], part[position]
        assert before.get_size() == pytest.approx(after.get_size(), abs=0.01), path.name
        if not path.stem.startswith("form"):  # fields become text of the page
            assert text_of(before) == text_of(after), (path.name, number)
