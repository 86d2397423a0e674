"""Documents of dense but ordinary pages are read whole; the limits of work are for pages that nobody lays out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf

from citekit.adapters.libraries.mupdf.engine import opened, skipped_pages

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
