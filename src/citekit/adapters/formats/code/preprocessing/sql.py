"""Rewrites SQL so that its grammar can parse it: replaces unknown statements and clauses with spaces."""

from __future__ import annotations

import re

from citekit.adapters.formats.code.preprocessing.blanking import blank

_STATEMENTS = (
    rb"CREATE\s+(?:OR\s+REPLACE\s+)?(?:OPERATOR|CAST|AGGREGATE|ACCESS\s+METHOD|TEXT\s+SEARCH|COLLATION|CONVERSION|LANGUAGE"
    rb"|EVENT\s+TRIGGER|SERVER|FOREIGN\s+DATA|PUBLICATION|SUBSCRIPTION|STATISTICS|TRANSFORM|RULE)\b"
    rb"|ALTER\s+(?:EXTENSION|OPERATOR|FUNCTION|AGGREGATE|DEFAULT)\b|DROP\s+(?:OPERATOR|CAST|AGGREGATE)\b"
    rb"|GRANT\b|REVOKE\b|COMMENT\s+ON\b"
)
_UNKNOWN = re.compile(rb"^[ \t]*(?:" + _STATEMENTS + rb")", re.MULTILINE | re.IGNORECASE)
_REST = re.compile(rb"(?:[^;']++|'[^']*+')*+;")
_COMMANDS = re.compile(rb"^\\.*$", re.MULTILINE)
_SYMBOL = re.compile(rb"(?<=')\s*,\s*'[^'\n]*'(?=\s*(?:LANGUAGE|STRICT|IMMUTABLE|STABLE|VOLATILE|;))", re.IGNORECASE)
_SHAPE = re.compile(
    rb"(?<=\w)\s*\(\s*(?:INTERNALLENGTH|INPUT|SUBTYPE)\s*=[^()']{0,1000}(?:'[^'\n]{0,200}'[^()']{0,200}){0,20}\)",
    re.IGNORECASE,
)
_OUT = re.compile(
    rb"(\bFUNCTION\s+[\w.\"]{1,200}\s*)\(((?:[^()]|\([^()]{0,200}\)){0,4000})\)(?=\s*(?:AS|LANGUAGE)\b)", re.IGNORECASE
)
_RETURNS = b"()RETURNS x"


def prepare(data: bytes) -> bytes:
    """Return a version of the SQL program that the parser can read, with the same length and lines.

    It lacks psql commands, statements about operators, permissions, and similar objects, names of C functions, the
    properties of base types and range types, and the arguments of functions without `RETURNS`.
    """
    data = _without_statements(_COMMANDS.sub(lambda found: blank(found[0]), data))
    for pattern in (_SYMBOL, _SHAPE):
        data = pattern.sub(lambda found: blank(found[0]), data)
    return _OUT.sub(_returning, data)


def _without_statements(data: bytes) -> bytes:
    parts, position = [], 0
    while (found := _UNKNOWN.search(data, position)) and (rest := _REST.match(data, found.end())):
        parts += [data[position : found.start()], blank(data[found.start() : rest.end()])]
        position = rest.end()
    return b"".join([*parts, data[position:]])


def _returning(found: re.Match[bytes]) -> bytes:
    """Replace the arguments of a function signature with a return type, if a line has room for it. The length is kept."""
    lines = found[0][len(found[1]) :].splitlines(keepends=True)
    wide = next((number for number, line in enumerate(lines) if len(line.rstrip(b"\r\n")) >= len(_RETURNS)), None)
    if wide is None:
        return found[0]
    empty = [blank(line) for line in lines]
    empty[wide] = _RETURNS + empty[wide][len(_RETURNS) :]
    return found[1] + b"".join(empty)
