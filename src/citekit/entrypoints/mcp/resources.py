"""Offers maps and evidence as MCP resources.

Their URIs are `citekit://maps/{resource_id}` and `citekit://evidence/{digest}`, the latter followed by
`/{first}-{last}` for some of the bytes, or by `/receipt`.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote

from attrs import frozen
from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from citekit.application.evidence_content import EvidenceContent, is_text
from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused
from citekit.domain.evidence import Receipt
from citekit.entrypoints.mcp.untrusted_text import quoted, quoted_json
from citekit.entrypoints.web.links import EVIDENCE_URI, MAP_URI
from citekit.wire import receipts

PREFIX = MAP_URI
MEDIA_TYPE = "application/json"
ARGUMENT = "resource_id"
TEMPLATE = f"{PREFIX}{{{ARGUMENT}}}"

EVIDENCE_PREFIX = EVIDENCE_URI

READ_LIMIT = 2 * 1024 * 1024
"""The maximum number of bytes of evidence in one response."""

PAGE = 200
"""The maximum number of maps per page of a listing."""

_EVIDENCE = re.compile(
    r"(?P<digest>[0-9a-f]{64})(?:/(?P<first>[0-9]{1,15})-(?P<last>[0-9]{1,15})|/(?P<receipt>receipt))?", re.ASCII
)

TEMPLATES = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=TEMPLATE,
            name="map",
            title="Map of a file",
            description="The complete map of one file as JSON: the same content as from getStructure, but "
            "never split into parts.",
            mime_type=MEDIA_TYPE,
        ),
        ResourceTemplate(
            uri_template=f"{EVIDENCE_PREFIX}{{digest}}",
            name="evidence",
            title="Evidence",
            description="The bytes of evidence that resolve created, up to 2 MB.",
        ),
        ResourceTemplate(
            uri_template=f"{EVIDENCE_PREFIX}{{digest}}/{{first}}-{{last}}",
            name="part of evidence",
            title="Part of evidence",
            description="A part of large evidence: the bytes from first to last, both included, numbered from 0.",
        ),
        ResourceTemplate(
            uri_template=f"{EVIDENCE_PREFIX}{{digest}}/receipt",
            name="receipt",
            title="Receipt of evidence",
            description="The receipt of evidence, with which its origin can be verified.",
            mime_type=MEDIA_TYPE,
        ),
    ]
)


def uri_of(resource_id: str) -> str:
    """Return the URI of a map, with the resource ID percent-encoded."""
    return PREFIX + quote(resource_id, safe="")


def id_of(uri: str) -> str:
    """Return the resource ID in the URI of a map. Raise `RequestRefused` for other URIs."""
    name = uri.removeprefix(PREFIX)
    try:
        if name and name != uri:
            return unquote(name, errors="strict")
    except UnicodeDecodeError:
        pass
    raise RequestRefused(
        f"{uri[:200]!r} is not the URI of a map. URIs of maps have the form {PREFIX}RESOURCE_ID, and those of "
        f"evidence begin with {EVIDENCE_PREFIX}DIGEST."
    )


@frozen
class EvidenceName:
    """The target of an evidence URI: the bytes `first` to `last` (all if both are None), or the receipt."""

    digest: Digest
    first: int | None = None
    last: int | None = None
    receipt: bool = False


def evidence_uri(digest: Digest) -> str:
    """Return the URI of evidence."""
    return f"{EVIDENCE_PREFIX}{digest.hex}"


def evidence_in(uri: str) -> EvidenceName | None:
    """Return the target of an evidence URI, or None for others. Raise `RequestRefused` if it is malformed."""
    if not uri.startswith(EVIDENCE_PREFIX):
        return None
    found = _EVIDENCE.fullmatch(uri.removeprefix(EVIDENCE_PREFIX))
    if found is None:
        raise RequestRefused(
            f"{uri[:200]!r} is not the URI of evidence. Use {EVIDENCE_PREFIX}DIGEST (64 lowercase hexadecimal digits), "
            "optionally followed by /FIRST-LAST for a range of bytes, or by /receipt."
        )
    digest = Digest(found["digest"])
    if found["first"] is None:
        return EvidenceName(digest, receipt=found["receipt"] is not None)
    return EvidenceName(digest, int(found["first"]), int(found["last"]))


def evidence_contents(
    uri: str, name: EvidenceName, content: EvidenceContent, shown_path: Callable[[str], str] = str
) -> ReadResourceResult:
    """Return the MCP response with evidence or its receipt. `shown_path` converts the path of the source for the
    client.

    Text with characters that must be escaped is sent as bytes, so that the client gets exactly the evidence. Raise the
    errors of `EvidenceContent`, and `RequestRefused` if the bytes do not exist or are more than `READ_LIMIT`.
    """
    receipt = content.receipt(name.digest)
    if name.receipt:
        plain = receipts.to_plain(receipt)
        plain["source_path"] = shown_path(receipt.source_path)
        return contents(uri, quoted_json(json.dumps(plain, ensure_ascii=False)))
    start, end = _span(name, receipt)
    data = content.read(receipt, start, end)
    is_whole, media_type = len(data) == receipt.evidence_size, receipt.media_type
    text = _plain_text(data) if is_whole and is_text(media_type) else None
    if text is not None:
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=media_type, text=text)])
    blob = BlobResourceContents(
        uri=uri, mime_type=media_type if is_whole else "application/octet-stream", blob=b64encode(data).decode()
    )
    return ReadResourceResult(contents=[blob])


def _plain_text(data: bytes) -> str | None:
    """Return the text of evidence, or None if it is not UTF-8 or must be escaped."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(quoted(line) == line for line in text.split("\n")) else None


def _span(name: EvidenceName, receipt: Receipt) -> tuple[int, int]:
    """Return the start and end offsets of the bytes that a URI names. Raise `RequestRefused` if they are missing or too
    many.
    """
    size, start = receipt.evidence_size, name.first or 0
    end = size if name.last is None else min(name.last + 1, size)
    if start >= max(size, 1) or end < start:
        unit = "byte" if size == 1 else "bytes"
        raise RequestRefused(f"There are no such bytes: the evidence has {size:,} {unit}, numbered from 0.")
    if end - start > READ_LIMIT:
        raise RequestRefused(
            f"The evidence has {size:,} bytes, but one call returns at most {READ_LIMIT:,}. Read it in parts, such as "
            f"{evidence_uri(receipt.evidence_digest)}/0-{READ_LIMIT - 1}. {smaller_form(receipt)}"
        )
    return start, end


def smaller_form(receipt: Receipt) -> str:
    """Return a sentence that tells a client how to get a smaller part or another form of the evidence."""
    media_type = receipt.media_type.partition(";")[0].strip()
    if media_type == "application/pdf":
        return "Call resolve with as: text for the words or, for a few pages, as: png for a picture."
    match media_type.partition("/")[0]:
        case "video":
            return "Call resolve with as: frame for a picture."
        case "audio":
            return "To get the recording in the answer, call resolve with a shorter part."
        case "image":
            return "Call resolve with width for a smaller picture."
    return "Call readText for the words, or call resolve with a smaller part."


def page_of(ids: Sequence[str], cursor: str | None) -> ListResourcesResult:
    """Return one page of the list of resources, after the ID `cursor` or, if it is None, from the first.

    `ids` must be sorted. The resource of `cursor` may have been removed.
    """
    start = 0 if cursor is None else next((n for n, name in enumerate(ids) if name > cursor), len(ids))
    shown = ids[start : start + PAGE]
    more = start + PAGE < len(ids)
    return ListResourcesResult(resources=[_listed(each) for each in shown], next_cursor=shown[-1] if more else None)


def contents(uri: str, text: str) -> ReadResourceResult:
    """Return the MCP response with a JSON document."""
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MEDIA_TYPE, text=text)])


def _listed(resource_id: str) -> Resource:
    return Resource(
        uri=uri_of(resource_id),
        name=quoted(resource_id),
        description=f"The map of {quoted(resource_id)}.",
        mime_type=MEDIA_TYPE,
    )
