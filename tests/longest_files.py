"""The files of tests that take longest, which are run first: a long one at the end would leave the other workers idle."""

from __future__ import annotations

LONGEST = (
    "search/test_edge.py",
    "cli/test_library.py",
    "faults/test_bills.py",
    "search/test_embedding_services.py",
    "cli/test_query.py",
    "cli/test_interrupts.py",
    "stories/test_subprocess_parsers.py",
    "sandbox/test_sandbox.py",
    "mcp/test_wire.py",
    "cli/test_model_mappers.py",
    "speed/test_cost.py",
    "contracts/test_embedder.py",
    "faults/test_links.py",
    "mcp/test_long_work.py",
    "storage/test_evidence_files.py",
)
"""Below the folder of the tests, the longest first."""
