"""The files of tests that take longest, which are run first: a long one at the end would leave the other workers idle."""

from __future__ import annotations

LONGEST = (
    "speed/test_cost.py",
    "search/test_edge.py",
    "cli/test_library.py",
    "stories/test_rulings.py",
    "formats/media/test_clips.py",
    "faults/test_bills.py",
    "http/test_bad_requests.py",
    "mcp/test_ingest_tool.py",
    "package/test_wheel.py",
    "web/test_answers.py",
    "mcp/test_alexandria_query.py",
    "contracts/test_vector_index.py",
    "sandbox/test_sandbox.py",
    "mappers/test_openai_service.py",
    "contracts/test_mapper.py",
    "formats/pdf/test_hidden_text.py",
    "contracts/test_embedder.py",
    "web/test_access.py",
)
"""Below the folder of the tests, the longest first."""
