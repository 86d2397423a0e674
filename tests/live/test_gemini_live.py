"""Asks the real service; runs only where `GEMINI_API_KEY` is set. Costs a few thousand tokens."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import json
import os
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.mappers.llm.gemini.service import MODEL, GeminiService
from citekit.adapters.mappers.llm.messages import FilePart, Question, TextPart
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.domain.progress import silent

KEY = os.environ.get("GEMINI_API_KEY")

pytestmark = pytest.mark.skipif(not KEY, reason="GEMINI_API_KEY is not set")

SCHEMA = {
    "type": "object",
    "properties": {"titles": {"type": "array", "items": {"type": "string"}}},
    "required": ["titles"],
}


def test_a_pdf_is_read_and_deleted_again(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        for title in ("The Heron", "The Kingfisher"):
            document.new_page().insert_text((72, 72), title, fontsize=24)
        document.save(path)
    service = GeminiService(
        KEY,
        os.environ.get("CITEKIT_MODEL") or MODEL,
        max_requests=1,
        orphaned_uploads=OrphanedUploads(tmp_path / "leftovers"),
    )
    question = Question(
        "You list headings.", (TextPart("List the heading of each page."), FilePart(path, "application/pdf")), SCHEMA
    )

    with service.session() as session:
        reply = session.ask(question, silent)

    assert ["The Heron", "The Kingfisher"] == json.loads(reply.text)["titles"]
    assert reply.complete
    assert reply.usage.input_tokens > 0
    assert [] == service.orphaned_uploads.pending()
