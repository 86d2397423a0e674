"""Converts locations to and from standard fragment formats, with a pair of functions for each standard.

The `to_` functions raise `FormUnsupported` for a location that the standard cannot express. The `from_` functions raise
`AddressMalformed` for a text that is not valid or cannot be converted. Fragments from the functions for RFC 5147, PDF,
and media begin with `#`. The `from_` functions also accept them without `#` and in complete URIs.
"""

from __future__ import annotations

from citekit.domain.exchange.epub_cfi import TextNode, from_epub_cfi, to_epub_cfi
from citekit.domain.exchange.iiif import from_iiif, to_iiif
from citekit.domain.exchange.media_fragments import from_media_fragment, to_media_fragment
from citekit.domain.exchange.pdf_open import from_pdf_open, to_pdf_open
from citekit.domain.exchange.rfc5147 import from_rfc5147, to_rfc5147
from citekit.domain.exchange.text_selectors import TextPosition
from citekit.domain.exchange.web_annotation import Context, from_web_annotation, to_web_annotation

__all__ = [
    "Context",
    "TextNode",
    "TextPosition",
    "from_epub_cfi",
    "from_iiif",
    "from_media_fragment",
    "from_pdf_open",
    "from_rfc5147",
    "from_web_annotation",
    "to_epub_cfi",
    "to_iiif",
    "to_media_fragment",
    "to_pdf_open",
    "to_rfc5147",
    "to_web_annotation",
]
