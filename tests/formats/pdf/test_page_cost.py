"""Documents of dense but ordinary pages are read whole; the limits of work are for pages that nobody lays out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.libraries.mupdf.engine import opened, skipped_pages
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

MUPDF: Any = pymupdf  # the library has no types


def test_every_page_of_a_filing_that_shows_its_text_in_small_pieces_is_read(tmp_path: Path) -> None:
    """Annual reports that are printed from HTML show 3,000 to 6,000 pieces of two letters on a page, on 80 to 420 pages."""
    path = tmp_path / "report.pdf"
    with MUPDF.open() as document:
        for number in range(90):
            page = document.new_page()
            page.insert_text((72, 20), f"Page {number}")
            pieces = (f"1 0 0 1 {(at * 7 + number) % 540} {at % 780} Tm (a{at % 10}) Tj" for at in range(4000))
            content = f"BT /helv 9 Tf {' '.join(pieces)} ET".encode()
            document.update_stream(page.get_contents()[0], content)
        document.save(path, deflate=True)

    with opened(path) as document:
        pages = [document[number] for number in range(document.page_count)]

        assert len(pages) == 90
        assert skipped_pages(document) == []


@pytest.mark.long
def test_a_plot_of_very_many_shapes_is_not_searched_for_hidden_text_and_a_note_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with MUPDF.open() as document:
        for name in ("Method", "Results"):
            document.new_page().insert_text((72, 80), name, fontname="hebo", fontsize=18)
            document[-1].insert_text((72, 110), "The text below it is plain.")
        shapes = "\n".join(f"0.9 g {at % 500} {at % 600} 3 3 re f" for at in range(31_000))
        plot = document.get_new_xref()
        document.update_object(plot, "<<>>")
        document.update_stream(
            plot, f"BT /hebo 10 Tf 100 500 Td 1 g (pale) Tj ET\n1 g 0 0 600 700 re f\n{shapes}".encode()
        )
        document.xref_set_key(document[1].xref, "Contents", f"[{plot} 0 R {document[1].get_contents()[0]} 0 R]")
        document.save(path, deflate=True)

    found = PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)

    assert [each.title for each in found.items] == ["Method", "Results"]
    assert any("page 2, which may contain hidden text, was not checked" in note for note in found.notes)
