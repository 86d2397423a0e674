"""Defines the tools that ingest books, preview chunks, and remove books."""

from __future__ import annotations

from mcp_types import Tool, ToolAnnotations

from citekit.entrypoints.mcp.library import schemas
from citekit.entrypoints.mcp.library.query_tools import LOOKS
from citekit.entrypoints.mcp.schemas import inputs

_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

INGEST = Tool(
    name="alexandria_ingest",
    title="Ingest a book from the library",
    description=(
        "Adds a book of the library to the collection, in chunks that end where the subject changes. A book "
        "already there is skipped unless force is true. Takes seconds to minutes; a canceled ingest adds nothing."
    ),
    input_schema=inputs(
        {"book_id": schemas.BOOK_ID, "format_preference": schemas.FORMAT, **schemas.INGESTING}, ("book_id",)
    ),
    output_schema=schemas.outputs(schemas.INGESTED),
    annotations=_ADDS,
)

BATCH = Tool(
    name="alexandria_batch_ingest",
    title="Ingest several books from the library",
    description=(
        "Ingests several books, selected by book_ids or by author, title, and language. Continues if one "
        "fails, and, without force, skips books already there, so it can be repeated."
    ),
    input_schema=inputs(
        {
            "book_ids": schemas.wholes("If set, author, title, and language are ignored."),
            "author": schemas.AUTHOR,
            "title": schemas.TITLE,
            "language": schemas.LANGUAGE,
            "limit": schemas.whole("Books, 1 to 50.", 10),
            "format_preference": schemas.FORMAT,
            **schemas.INGESTING,
        }
    ),
    output_schema=schemas.outputs(
        {
            "total": schemas.said("integer"),
            "succeeded": schemas.said("integer"),
            "skipped": schemas.said("integer"),
            "failed": schemas.said("integer"),
            "results": schemas.listed(
                "The outcome for each book.",
                {
                    "id": schemas.said("integer"),
                    "title": schemas.said("string"),
                    "author": schemas.said("string"),
                    "status": {"type": "string", "enum": ["success", "skipped", "failed"]},
                    "chunks": schemas.said("integer"),
                    "error": schemas.NULL_OR_TEXT,
                },
            ),
            "unknown_ids": schemas.wholes("The ids from book_ids that are not in the library."),
            "ids_over_limit": schemas.wholes("The ids from book_ids that were left out because of limit."),
            "summary": schemas.said("string"),
        }
    ),
    annotations=_ADDS,
)

INGEST_FILE = Tool(
    name="alexandria_ingest_file",
    title="Ingest a file",
    description=(
        "Works like alexandria_ingest, for a file in a folder that the owner allows. title, author, and language "
        "override those of the file. If needs_metadata is true, call again with the arguments in missing_fields, too."
    ),
    input_schema=inputs(
        {
            "file_path": schemas.FILE_PATH,
            "title": schemas.optional_text(),
            "author": schemas.optional_text(),
            "language": schemas.optional_text(),
            **schemas.INGESTING,
        },
        ("file_path",),
    ),
    output_schema=schemas.outputs(
        {
            **schemas.INGESTED,
            "title": schemas.NULL_OR_TEXT,
            "author": schemas.NULL_OR_TEXT,
            "needs_metadata": schemas.said("boolean"),
            "file_path": schemas.said("string"),
            "file_name": schemas.said("string"),
            "extracted": schemas.said(
                "object",
                "If needs_metadata is true: the title, author, and language found in the file, each null if the file does "
                "not have it.",
            ),
            "missing_fields": schemas.TEXTS,
        }
    ),
    annotations=_ADDS,
)

TEST = Tool(
    name="alexandria_test_chunking",
    title="Preview the chunks of a book",
    description="Splits a book of the library and returns counts and sample chunks. Stores nothing.",
    input_schema=inputs(
        {"book_id": schemas.BOOK_ID, **schemas.CUTTING, "format_preference": schemas.FORMAT}, ("book_id",)
    ),
    output_schema=schemas.outputs(schemas.TRIED),
    annotations=LOOKS,
)

TEST_FILE = Tool(
    name="alexandria_test_chunking_file",
    title="Preview the chunks of a file",
    description="Splits a file and returns counts and sample chunks. Stores nothing.",
    input_schema=inputs({"file_path": schemas.FILE_PATH, **schemas.CUTTING}, ("file_path",)),
    output_schema=schemas.outputs(schemas.TRIED),
    annotations=LOOKS,
)

COMPARE = Tool(
    name="alexandria_compare_chunking",
    title="Compare thresholds for a book",
    description=("Tries five thresholds on a book of the library and recommends one. Stores nothing."),
    input_schema=inputs({"book_id": schemas.BOOK_ID, "format_preference": schemas.FORMAT}, ("book_id",)),
    output_schema=schemas.outputs(
        {
            "book_id": schemas.said("integer"),
            "file": schemas.said("string"),
            "title": schemas.said("string"),
            "author": schemas.said("string"),
            "format": schemas.said("string"),
            "total_sentences": schemas.said("integer"),
            "total_words": schemas.said("integer"),
            "similarity_distribution": schemas.said(
                "object", "min, max, mean, and median of the similarity of neighboring sentences."
            ),
            "comparisons": schemas.listed(
                "For each threshold: the numbers of chunks, words, and breaks, and examples of breaks."
            ),
            "recommendation": schemas.said(("number", "null")),
            "recommendation_reason": schemas.said("string"),
        }
    ),
    annotations=LOOKS,
)

REMOVE = Tool(
    name="alexandria_remove",
    title="Remove a book from the collection",
    description=(
        "Removes an ingested book from a collection; its file stays. Give exactly one of book_id, resource_id, and file_path."
    ),
    input_schema=inputs(
        {
            "book_id": schemas.BOOK_ID,
            "resource_id": schemas.optional_text("From alexandria_query."),
            "file_path": schemas.optional_text(),
            "collection": schemas.COLLECTION,
        }
    ),
    output_schema=schemas.outputs(
        {
            "title": schemas.said("string"),
            "author": schemas.said("string"),
            "resource_id": schemas.said("string"),
            "chunks": schemas.said("integer", "The number of chunks that were removed."),
            "points": schemas.said("integer", "The number of chunks and passages that were removed from the index."),
            "collection": schemas.said("string"),
        }
    ),
    annotations=_REMOVES,
)
