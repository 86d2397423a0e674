"""Writes docs/reference/mcp.md from the live tool definitions: python docs/generate_mcp.py"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp_types import Tool

from citekit.entrypoints.mcp import evidence_card, ingest_tool, list_resources_tool, resources, structure_tool, tools
from citekit.entrypoints.mcp.handlers import FROM_FILES, INSTRUCTIONS
from citekit.entrypoints.mcp.library import prompts, toolset

PAGE = Path(__file__).parent / "reference" / "mcp.md"

TOP = """\
<!-- Written by docs/generate_mcp.py from the tool definitions; a test holds it to them. Do not edit. -->

# The MCP server

`citekit serve` (or `python -m citekit.cli serve`) answers agents over the Model Context Protocol on standard input and
output, for the maps of [one home](../how-to/choose-a-home.md) (`--home DIR`, `CITEKIT_HOME`, or the default home). It
supports every protocol version from 2024-11-05 to 2026-07-28. Maps that are made or changed while it runs are visible at
once.

```json
{
  "mcpServers": {
    "citekit": {"command": "citekit", "args": ["serve", "--home", "/path/to/your/files"]}
  }
}
```

If a library or an index of books is configured, or with `CITEKIT_TOOLS=citekit,alexandria`, the server also offers the
library's tools: see [below](#the-librarys-tools).

Every answer is given twice: as structured content, which fits the tool's output schema, and as one text item, for clients
that show only text. The text is the same JSON, or the same facts in fewer characters: `findText`, `readText`, and
`verifyQuote` with a list give lines; `getStructure` gives a line for each node if the call has options (`depth`, `node_id`,
`title_contains`, `max_tokens`, `include_chunks`), and `listResources` a line for each file if it has a query. As in earlier
versions, a call of `getStructure` with only `resource_id` has the complete map in both, and a call of `listResources`
without arguments has all IDs. The official Python and TypeScript clients return both. Some programs show their model the
structured content. With options, that of `getStructure` is also short: each node has its location as in an address (`at`),
and no summary. `max_tokens` counts the text.

Clients that cannot open files on the server's machine also get evidence. An answer of `resolve` contains text evidence (the
first 4,000 characters), a picture (up to 512 kB, otherwise a reduced copy; `width` sets its size), or a recording of up to
512 kB, and a link to the evidence as a resource. For other evidence, such as PDF pages and clips, the answer says which form
can be shown (`as: text`, `as: png`, `as: frame`).


| Resource | Content |
|---|---|
| `citekit://maps/{resource_id}` | the complete map as JSON |
| `citekit://evidence/{digest}` | the bytes of evidence, as text if it is text; up to 2 MB |
| `citekit://evidence/{digest}/{first}-{last}` | the bytes from `first` to `last`, counted from 0, of larger evidence |
| `citekit://evidence/{digest}/receipt` | the whole receipt, with which `citekit verify` checks the bytes |

Links and recordings are sent only to clients with protocol version 2025-06-18 or later. Clients can read only evidence that
this home made and that is unchanged. If it was removed from the cache, resolve the part again.

## Server instructions
"""

CARDS = """\
# A card in the chat

Clients that show [MCP Apps](https://modelcontextprotocol.io/extensions/apps) (version 2026-01-26), such as Claude, VS Code,
ChatGPT, and Goose, are offered two more tools and the resource `{card}`. It is a card that shows the page with the quote
marked, the verdict, the titles above it, and the next and previous pages; or the text, the frame of a video, or the sound.
Every answer is complete without the card. Other clients do not see these tools.
"""

BOTTOM = """\
## Maps as resources

Every map is also a resource, `{template}`, of the type `{media_type}`: the complete map, never truncated.
`resources/list` lists {page} maps per page. `completion/complete` completes the `resource_id` of the URI.

The server checks every second whether maps have changed. A client with a protocol version up to 2025-11-25 is notified if
the list changes (`notifications/resources/list_changed`), and, after `resources/subscribe`, if a map changes. A client with a
later version opens a stream with `subscriptions/listen`. The checks begin when a client is initialized or opens a stream. The
same notification can arrive twice.

A client with a protocol version up to 2025-11-25 gets log messages after `logging/setLevel`: one line each, without paths
that it must not see.

## Untrusted text

Titles, summaries, passages, metadata, and names come from the mapped files, whose authors are unknown. They occur only inside
JSON strings. No title can end such a string, so no title can imitate another entry, a line, or a message of the protocol. The
server informs an agent that these texts are data: once per session, and in the descriptions of the tools that return most of
them.

In the text item, and in maps as resources, JSON escapes replace two kinds of characters in these strings. The data stays the
same, and the text shows every character. The first kind is invisible characters: controls, direction marks, and zero-width
and tag characters, except joiners inside words of scripts that need them and the variation selector of an emoji. The second
kind is the beginning of markup with which a client that renders the text as Markdown or HTML would load something or hide an
address (`!\\u005b`, `]\\u0028`, `\\u003cimg`). Errors, progress messages, and the names of links and resources are one line
each, in which the same characters are written as `\\x0a`, `\\u202e`, or `!\\x5b`.

## Errors

If a tool cannot do what was requested, it returns one text that begins with `Error: `, and the result is marked `isError`:

```text
Error: No map found for resource 'nonexistent_id'. Expected at: .resource_maps/nonexistent_id.json
Error: Resource 'nonexistent' not found.
Error: Node 'invalid.node' not found.
```

If something with a similar name exists, ` Did you mean '...'?` follows. A request for a tool or a resource that does not
exist is a protocol error (-32602), and so is a line that is not a message (-32700).

## Long extractions

If the request contains a `progressToken`, the server reports progress, at most ten times a second. A canceled request
(`notifications/cancelled`) stops at its next progress report and leaves nothing incomplete; other requests are still
answered. When the input ends, the server finishes the pending answers within ten seconds and exits. On SIGINT and SIGTERM, it
exits at once.
"""


LIBRARY = """\
# The library's tools

They find, ingest, and remove books. Some answers have two fields with the same value (`words` and `word_count`): use either.
If the limit or the threshold of a question is out of range, the nearest valid value is used, and `notes` says so. Numbers may
be written as strings.

The result of a tool that failed is marked `isError`. Its field `error` says what went wrong (null if nothing did), and
`success` is then false. Tools that work in steps also report the steps that they completed:

```json
{{
  "success": false,
  "progress": "[█░░░░░] 16%",
  "steps": ["❌ Book not found"],
  "error": "Book with ID 77 not found in Calibre"
}}
```

Every result of `alexandria_query` has the `address` of the chunk, and the `resource_id` and `node_id` with which `resolve`
extracts it from the book. Ingests and previews report progress if the request contains a `progressToken`. A canceled ingest
leaves nothing behind.

The server sends these instructions:

{instructions}

## Arguments of several tools

The descriptions that agents read are short. These arguments have the same meaning in each tool:

- `book_id` is the ID of a book in the library, from `alexandria_search`. `file_path` is an absolute path.
- `author` and `title` match a part of the name and of the title, ignoring case; `language` is a code such as `eng`. In
  `alexandria_ingest_file`, they override the values in the file.
- `collection` is the collection to use. The default is the configured one (`QDRANT_COLLECTION`).
- `format_preference`: if the book isn't available in this format, its first readable format is used.
- `threshold` of an ingest or a preview: a chunk ends where the similarity of neighboring sentences is below this value.
- `min_chunk_size` and `max_chunk_size` are numbers of words.
- `hierarchical` splits the book by chapters first, so that a hit can be shown in its chapter.
- `force` ingests a book again even if it is in the collection, and replaces its chunks.

## Guardians as prompts

Every [guardian](guardians.md) is also a prompt, `{prefix}<id>`, with an optional argument `{question}`. The
[patterns](patterns.md) are arguments of `alexandria_query` only.

"""


_OWN_DATA = "CiteKit's own data (in the home, or in the configured store, database, and vector index)"


def page() -> str:
    """The whole page."""
    every = (
        list_resources_tool.LIST_RESOURCES,
        tools.FIND_TEXT,
        tools.READ_TEXT,
        structure_tool.GET_STRUCTURE,
        tools.GET_NODE,
        tools.RESOLVE,
        tools.VERIFY_QUOTE,
        ingest_tool.INGEST,
    )
    template = resources.TEMPLATES.resource_templates[0].uri_template
    bottom = BOTTOM.format(template=template, media_type=resources.MEDIA_TYPE, page=resources.PAGE)
    library = LIBRARY.format(
        instructions=_quoted(toolset.INSTRUCTIONS), prefix=prompts.PREFIX, question=prompts.QUESTION
    )
    return "\n".join(
        (
            TOP,
            _quoted(f"{INSTRUCTIONS}\n\n{FROM_FILES}"),
            "",
            *_tools(every),
            bottom,
            CARDS.format(card=evidence_card.CARD),
            *_tools(evidence_card.FOR_CARDS),
            library,
            *_tools(toolset.TOOLS),
        )
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())


def _tools(every: Iterable[Tool]) -> Iterator[str]:
    return (line for tool in every for line in _tool(tool))


def _tool(tool: Tool) -> Iterator[str]:
    yield from (f"## {tool.name}", "", tool.description or "", "", _kind(tool), "")
    yield from _table("Argument", tool.input_schema, "It takes no arguments.")
    yield from _table("Field of the answer", tool.output_schema or {}, "")


def _kind(tool: Tool) -> str:
    kind = tool.annotations
    if kind is not None and kind.read_only_hint:
        return "Read-only; idempotent."
    if kind is not None and kind.destructive_hint:
        return f"Removes only {_OWN_DATA}, never a source; idempotent."
    return f"Writes only {_OWN_DATA}, never to a source; idempotent."


def _table(what: str, schema: Mapping[str, Any], nothing: str) -> Iterator[str]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if not properties:
        yield from (nothing, "")
        return
    yield from (f"| {what} | Type | |", "|---|---|---|")
    for name, field in properties.items():
        always = name in schema.get("required", ())
        yield f"| `{name}`{'' if always else ' (optional)'} | {_type(field)} | {_meaning(field)} |"
    yield ""


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    kind = field.get("type", "any")
    named = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return f"{named} of {field['items'].get('type', 'node')}" if named == "array" else named


def _meaning(field: Mapping[str, Any]) -> str:
    default = f" Default: `{str(field['default']).lower()}`." if "default" in field else ""
    return f"{field.get('description', '')}{default}".strip().replace("|", "\\|")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
