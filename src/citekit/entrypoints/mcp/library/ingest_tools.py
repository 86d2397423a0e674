"""What an agent is told of the tools that take books in, try how to cut them, and take them out again."""

from __future__ import annotations

from mcp_types import Tool, ToolAnnotations

from citekit.entrypoints.mcp.library import schemas
from citekit.entrypoints.mcp.library.query_tools import LOOKS
from citekit.entrypoints.mcp.schemas import inputs

_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

INGEST = Tool(
    name="alexandria_ingest",
    title="Ingest a book of the library",
    description=(
        "Reads a book of the library, cuts it into chunks where its subject changes, and adds them to the collection. A book "
        "whose very file is there already is not taken in again, unless force is set. Takes seconds to minutes; reports "
        "progress, and can be cancelled: nothing of it is in the collection then."
    ),
    input_schema=inputs(
        {"book_id": schemas.BOOK_ID, "format_preference": schemas.FORMAT, **schemas.INGESTING}, ("book_id",)
    ),
    output_schema=schemas.outputs(schemas.INGESTED),
    annotations=_ADDS,
)

BATCH = Tool(
    name="alexandria_batch_ingest",
    title="Ingest many books of the library",
    description=(
        "Ingests books one after the other, by book_ids or by author, title and language. The failure of one does not stop "
        "the rest. Books that are there already are skipped, so that an interrupted batch goes on when asked again."
    ),
    input_schema=inputs(
        {
            "book_ids": schemas.wholes("Ids of books in the library; they win over the criteria."),
            "author": schemas.AUTHOR,
            "title": schemas.TITLE,
            "language": schemas.LANGUAGE,
            "limit": schemas.whole("How many books, 1 to 50.", 10),
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
                "What became of each book.",
                {
                    "id": schemas.said("integer"),
                    "title": schemas.said("string"),
                    "author": schemas.said("string"),
                    "status": {"type": "string", "enum": ["success", "skipped", "failed"]},
                    "chunks": schemas.said("integer"),
                    "error": schemas.NULL_OR_TEXT,
                },
            ),
            "unknown_ids": schemas.wholes("Those of book_ids that the library does not have."),
            "summary": schemas.said("string"),
        }
    ),
    annotations=_ADDS,
)

INGEST_FILE = Tool(
    name="alexandria_ingest_file",
    title="Ingest a file",
    description=(
        "Like alexandria_ingest for a file that no library lists. Where the file does not say its title or author, "
        "needs_metadata is true and missing_fields names them: call again with these. Only files in folders that the owner "
        "allows."
    ),
    input_schema=inputs(
        {
            "file_path": schemas.FILE_PATH,
            "title": schemas.optional_text("The title; wins over what the file says."),
            "author": schemas.optional_text("The author; wins over what the file says."),
            "language": schemas.optional_text("The code of the language; wins over what the file says."),
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
                "object", "title, author and language as the file has them; null where it has none."
            ),
            "missing_fields": schemas.TEXTS,
        }
    ),
    annotations=_ADDS,
)

TEST = Tool(
    name="alexandria_test_chunking",
    title="Try how a book is cut",
    description="Cuts a book of the library with these parameters and shows counts and samples. Nothing is stored.",
    input_schema=inputs(
        {"book_id": schemas.BOOK_ID, **schemas.CUTTING, "format_preference": schemas.FORMAT}, ("book_id",)
    ),
    output_schema=schemas.outputs(schemas.TRIED),
    annotations=LOOKS,
)

TEST_FILE = Tool(
    name="alexandria_test_chunking_file",
    title="Try how a file is cut",
    description="Cuts a file with these parameters and shows counts and samples. Nothing is stored.",
    input_schema=inputs({"file_path": schemas.FILE_PATH, **schemas.CUTTING}, ("file_path",)),
    output_schema=schemas.outputs(schemas.TRIED),
    annotations=LOOKS,
)

COMPARE = Tool(
    name="alexandria_compare_chunking",
    title="Compare thresholds on a book",
    description=(
        "Cuts a book of the library with five thresholds, shows how coherent the chunks of each are, and recommends one. "
        "Nothing is stored."
    ),
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
            "similarity_distribution": schemas.said("object", "min, max, mean, median."),
            "comparisons": schemas.listed("One for each threshold."),
            "recommendation": schemas.said(("number", "null")),
            "recommendation_reason": schemas.said("string"),
        }
    ),
    annotations=LOOKS,
)

REMOVE = Tool(
    name="alexandria_remove",
    title="Take a book out of the collection",
    description=(
        "Removes one ingested book from a collection: its chunks are no longer found. The file and the library stay as they "
        "are, and the book can be ingested again. Give one of book_id, resource_id and file_path."
    ),
    input_schema=inputs(
        {
            "book_id": schemas.BOOK_ID,
            "resource_id": schemas.optional_text("The book as a resource, as the results of alexandria_query give it."),
            "file_path": schemas.optional_text("The absolute path of the file that was ingested."),
            "collection": schemas.COLLECTION,
        }
    ),
    output_schema=schemas.outputs(
        {
            "title": schemas.said("string"),
            "author": schemas.said("string"),
            "resource_id": schemas.said("string"),
            "chunks": schemas.said("integer", "Chunks that were removed."),
            "points": schemas.said("integer", "Points of the index that were removed, passages included."),
            "collection": schemas.said("string"),
        }
    ),
    annotations=_REMOVES,
)
