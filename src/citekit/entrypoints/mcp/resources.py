"""Offers maps as MCP resources with the URIs `citekit://maps/{resource_id}`."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

from mcp_types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.mcp.untrusted_text import quoted

PREFIX = "citekit://maps/"
MEDIA_TYPE = "application/json"
ARGUMENT = "resource_id"
TEMPLATE = f"{PREFIX}{{{ARGUMENT}}}"

PAGE = 200
"""The maximum number of maps per page of a listing."""

TEMPLATES = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=TEMPLATE,
            name="map",
            title="Map of a file",
            description="The complete map of one file as JSON: the same content as getStructure, never split "
            "into parts.",
            mime_type=MEDIA_TYPE,
        )
    ]
)


def uri_of(resource_id: str) -> str:
    """Return the URI of the map with the given resource ID, which is percent-encoded in the URI."""
    return PREFIX + quote(resource_id, safe="")


def id_of(uri: str) -> str:
    """Return the resource ID in the URI of a map. Raise `RequestRefused` if the URI does not belong to a map."""
    name = uri.removeprefix(PREFIX)
    try:
        if name and name != uri:
            return unquote(name, errors="strict")
    except UnicodeDecodeError:
        pass
    raise RequestRefused(
        f"{uri[:200]!r} is not a resource of this server. Resource URIs have the form {PREFIX}RESOURCE_ID."
    )


def page_of(ids: Sequence[str], cursor: str | None) -> ListResourcesResult:
    """Return one page of the list of resources, beginning after the ID `cursor` or, if it is None, with the first ID.

    `ids` must be sorted. The ID `cursor` may have been removed in the meantime.
    """
    start = 0 if cursor is None else next((n for n, name in enumerate(ids) if name > cursor), len(ids))
    shown = ids[start : start + PAGE]
    more = start + PAGE < len(ids)
    return ListResourcesResult(resources=[_listed(each) for each in shown], next_cursor=shown[-1] if more else None)


def contents(uri: str, text: str) -> ReadResourceResult:
    """Return the MCP response that contains a map. `text` is the JSON text of the map."""
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MEDIA_TYPE, text=text)])


def _listed(resource_id: str) -> Resource:
    return Resource(
        uri=uri_of(resource_id),
        name=quoted(resource_id),
        description=f"The map of {quoted(resource_id)}.",
        mime_type=MEDIA_TYPE,
    )
