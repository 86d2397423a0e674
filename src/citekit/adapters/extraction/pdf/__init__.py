"""Pages of a PDF, and regions of one page, to evidence."""

from __future__ import annotations

from citekit.adapters.extraction.pdf.extractor import PyMuPdfExtractor

__all__ = ["PyMuPdfExtractor"]
