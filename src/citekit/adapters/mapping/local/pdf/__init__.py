"""The structure of a PDF: bookmarks, else headings told by their type, else groups of pages."""

from __future__ import annotations

from citekit.adapters.mapping.local.pdf.outliner import PdfOutliner

__all__ = ["PdfOutliner"]
