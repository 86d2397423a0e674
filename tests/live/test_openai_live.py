"""OpenAI itself, where there is a key: a PDF, a picture and a schema in one question."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import PIL.Image
import pymupdf
import pytest

from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Question, TextPart
from citekit.adapters.mappers.llm.openai.service import DEFAULT_MODEL, OpenAiService
from citekit.domain.progress import silent

pytestmark = pytest.mark.skipif(not os.environ.get("OPENAI_API_KEY"), reason="OPENAI_API_KEY is not set")

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "colour": {"type": "string", "enum": ["red", "green", "blue"]},
        "remark": {"type": "string"},
    },
    "required": ["title", "colour"],
}


def test_a_pdf_and_a_picture_are_seen_and_the_answer_fits_the_schema(tmp_path: Path) -> None:
    path, picture = tmp_path / "paper.pdf", io.BytesIO()
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 100), "On the Migration of Storks", fontsize=24)
        document.save(path)
    PIL.Image.new("RGB", (64, 64), "blue").save(picture, "PNG")
    parts = (
        FilePart(path, "application/pdf"),
        ImagePart(picture.getvalue(), "image/png", "A picture:"),
        TextPart("What is the title of the paper, and what colour has the picture?"),
    )

    with OpenAiService(
        os.environ["OPENAI_API_KEY"], os.environ.get("OPENAI_MODEL") or DEFAULT_MODEL, max_requests=1
    ).session() as session:
        reply = session.ask(Question("You answer exactly.", parts, SCHEMA), silent)

    answer = json.loads(reply.text)
    assert ("on the migration of storks", "blue") == (answer["title"].lower(), answer["colour"])
    assert () == reply.notes
    assert reply.usage.input_tokens > 0
