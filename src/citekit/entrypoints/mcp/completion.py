"""Completes resource IDs in the URI template of maps."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_types import CompleteRequestParams, CompleteResult, Completion, ResourceTemplateReference

from citekit.entrypoints.mcp.resources import ARGUMENT, TEMPLATE

MOST = 100
"""The maximum number of values that the protocol permits."""


def completed(ids: Sequence[str], params: CompleteRequestParams) -> CompleteResult:
    """Return the IDs that begin with the given text, followed by those that contain it, regardless of case.

    For references to prompts, and for other arguments, there are no values.
    """
    found = _matching(ids, params.argument.value.casefold()) if _is_resource_id(params) else []
    return CompleteResult(completion=Completion(values=found[:MOST], total=len(found), has_more=len(found) > MOST))


def _is_resource_id(params: CompleteRequestParams) -> bool:
    reference = params.ref
    return (
        isinstance(reference, ResourceTemplateReference)
        and reference.uri == TEMPLATE
        and params.argument.name == ARGUMENT
    )


def _matching(ids: Sequence[str], text: str) -> list[str]:
    containing = [name for name in ids if text in name.casefold()]
    return sorted(containing, key=lambda name: not name.casefold().startswith(text))
