"""Combines the library tools with the functions that run them and report errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import define, evolve
from mcp_types import Tool

from citekit.application.library.answers import ContextMode
from citekit.container.library import Alexandria
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library import asking, batches, catalog, chunking, ingest_report, ingesting
from citekit.entrypoints.library.steps import StepReport
from citekit.entrypoints.mcp.answers import LONGEST_ERROR, Answer
from citekit.entrypoints.mcp.library import ingest_tools, query_tools
from citekit.entrypoints.mcp.library.arguments import clamped, read
from citekit.entrypoints.mcp.path_redaction import Discretion
from citekit.entrypoints.mcp.tools import Bound

Arguments = Mapping[str, Any]
Work = Callable[[Alexandria, Arguments, Progress], dict[str, Any]]
Refuse = Callable[[Arguments, BaseException], dict[str, Any]]

_TO_A_FILE = (
    " To get the part of the book as a file, call resolve with the resource_id of a result, and with its address as "
    "node_id."
)

INSTRUCTIONS = (
    "Alexandria is a library of books. After a book is ingested, you can ask questions about it.\n"
    "- alexandria_stats counts what is in the library and in the index.\n"
    f"- alexandria_query returns the passages that answer a question.{_TO_A_FILE}\n"
    "- alexandria_search finds books by author, title, language, or tag.\n"
    "- alexandria_ingest adds a book to the index.\n"
    "If one of these tools fails, the error field of its answer says why."
)

_log = logging.getLogger(__name__)


def instructions(*, with_resolve: bool) -> str:
    """Return the instructions for agents. Without `with_resolve`, they do not name the tool `resolve`."""
    return INSTRUCTIONS if with_resolve else INSTRUCTIONS.replace(_TO_A_FILE, "")


def _plainly(**empty: Any) -> Refuse:
    def refuse(_arguments: Arguments, error: BaseException) -> dict[str, Any]:
        return {**empty, "error": sentence(error)}

    return refuse


def _by_steps(_arguments: Arguments, error: BaseException) -> dict[str, Any]:
    return ingest_report.broken(StepReport(), error if isinstance(error, Exception) else RuntimeError(str(error)))


def _as_batch(_arguments: Arguments, error: BaseException) -> dict[str, Any]:
    return batches.stopped(error)


def _query(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Run `alexandria_query`, with `CHARACTERS` as the default of `max_chars` in the mode `precise`."""
    is_precise = ContextMode.of(arguments["context_mode"]) is ContextMode.PRECISE
    if is_precise and "max_chars" not in arguments:
        arguments = {**arguments, "max_chars": query_tools.CHARACTERS}
    return asking.query(library, arguments, progress)


_TOOLS: tuple[tuple[Tool, Work, Refuse, bool], ...] = (
    (query_tools.QUERY, _query, asking.unanswered, False),
    (query_tools.GUARDIANS, asking.guardians, _plainly(guardians=[], count=0), False),
    (query_tools.SEARCH, catalog.search, _plainly(books=[], count=0), False),
    (query_tools.BOOK, catalog.book, _plainly(book=None), False),
    (query_tools.STATS, catalog.stats, _plainly(calibre=None, qdrant=None), False),
    (query_tools.PREVIEW, catalog.preview, _plainly(books=[], count=0), False),
    (ingest_tools.INGEST, ingesting.ingest, _by_steps, True),
    (ingest_tools.BATCH, batches.batch_ingest, _as_batch, True),
    (ingest_tools.TEST, chunking.test, _plainly(), True),
    (ingest_tools.COMPARE, chunking.compare, _plainly(), True),
    (query_tools.BROWSE, catalog.browse, _plainly(files=[], count=0), True),
    (ingest_tools.INGEST_FILE, ingesting.ingest_file, _by_steps, True),
    (ingest_tools.TEST_FILE, chunking.test_file, _plainly(), True),
    (ingest_tools.REMOVE, batches.remove, _plainly(), True),
)
"""For each tool: its definition, the functions that run it and report errors, and whether it can take long."""

TOOLS: tuple[Tool, ...] = tuple(tool for tool, *_ in _TOOLS)
"""The tools, in the order of the published contract."""


@define
class LibraryTools:
    """The MCP tools of one library, which is opened at the first call, so as not to delay the server start."""

    open_library: Callable[[], Alexandria]
    discreet: Discretion

    def bound(self) -> dict[str, Bound]:
        """Return the library tools by name."""
        return {
            tool.name: Bound(
                tool,
                partial(self._run, tool.name, work),
                (lambda _: True) if long else (lambda _: False),
                check=read,
                refused=partial(_refused, refuse, self.discreet),
            )
            for tool, work, refuse, long in _TOOLS
        }

    def _run(self, name: str, work: Work, arguments: Arguments, progress: Progress) -> Answer:
        used, notes = clamped(name, arguments)
        plain = work(self.open_library(), used, progress)
        notes += plain.get("notes", ())
        answer = Answer.of(self.discreet.in_answer({**plain, "notes": notes} if notes else plain))
        return evolve(answer, is_error=plain.get("success") is False)


def _refused(refuse: Refuse, discreet: Discretion, arguments: Arguments, error: BaseException) -> Answer:
    """Return the usual result of a library tool that failed with `error`."""
    if not isinstance(error, CiteKitError | OSError):
        _log.error("A library tool failed", exc_info=error)
    plain = discreet.in_answer(refuse(arguments, error))
    if len(plain["error"]) > LONGEST_ERROR:
        plain["error"] = f"{plain['error'][:LONGEST_ERROR]}..."
    return evolve(Answer.of({"success": False, **plain}), is_error=True)
