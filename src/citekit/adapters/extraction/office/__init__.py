"""Evidence out of Office files: slides of presentations, cells of workbooks."""

from citekit.adapters.extraction.office.slides import SlideExtractor
from citekit.adapters.extraction.office.spreadsheet import CellsExtractor

__all__ = ["CellsExtractor", "SlideExtractor"]
