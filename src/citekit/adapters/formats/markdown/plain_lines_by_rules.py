"""Removes the markup of Markdown line by line with simple rules, in linear time, from files too long for a parser.

Markup that the rules do not recognize is kept, because an extra character is better than a missing word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

LINE_LIMIT = 20_000
"""A line with more characters is left unchanged."""

_FENCE = re.compile(r" {0,12}(?:[>] ?)*(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE = re.compile(r"(?: {0,3}>[ \t]?+)++")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_COLUMNS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINED = re.compile(r""" {0,3}\[[^\]\[]{1,200}\]:[ \t]*\S+(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$""")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_PICTURE = re.compile(r"!\[([^\]\[]{0,300})\](?:\([^()]{0,500}\)|\[[^\]]{0,100}\])")
_LINK = re.compile(
    r"\[((?:[^\]\[]|\[[^\]\[]{0,100}\]){1,500})\](?:\([^()]{0,500}(?:\([^()]{0,200}\)[^()]{0,300})?\)|\[[^\]]{0,100}\])"
)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]{1,500}|[\w.+-]{1,64}@[\w.-]{1,200})>")
_TAG = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9-]{0,30}(?:\s[^<>]{0,500})?/?|!--.{0,2000}?--)>")
_STRONG = re.compile(r"(?<!\*)(\*{1,3})(?=[^\s*])(.{1,2000}?)(?<=[^\s*])\1(?!\*)")
_UNDERSCORED = re.compile(r"(?<![\w_])(_{1,3})(?=[^\s_])(.{1,2000}?)(?<=[^\s_])\1(?![\w_])")
_STRUCK = re.compile(r"~~(?=\S)(.{1,2000}?)(?<=\S)~~")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("\ufdd1(\\d+)\ufdd2")


def visible_lines_by_rules(lines: Sequence[str]) -> Iterator[str]:
    """Yield every line without its markup. A line that is only markup becomes empty."""
    fence, comment, before = "", False, ""
    for line in lines:
        mark = None if comment else _FENCE.match(line)
        if mark and (
            not fence or (mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and line.strip().endswith(mark[1]))
        ):
            fence = "" if fence else mark[1]
            yield ""
        elif fence or len(line) > LINE_LIMIT:
            yield line
        else:
            visible, comment = _uncommented(line, comment)
            yield _block(visible, before)
            before = line


def _uncommented(line: str, inside: bool) -> tuple[str, bool]:
    """Return a line without the text in an HTML comment that spans lines, and whether the comment continues after it."""
    if inside:
        end = line.find("-->")
        if end < 0:
            return "", True
        line = line[end + 3 :]
    start = line.rfind("<!--")
    if start >= 0 and "-->" not in line[start:] and "`" not in line[:start]:
        return line[:start], True
    return line, False


def _block(line: str, before: str) -> str:
    """Return a line without its markup. `before` is the preceding line."""
    text = _QUOTE.sub("", line, count=1) if _QUOTE.match(line) else line
    if _RULE.match(text) or _DEFINED.match(text) or (_UNDERLINE.match(text) and before.strip()):
        return ""
    if "|" in text and "-" in text and _COLUMNS.match(text):
        return ""
    if _HEADING.match(text):
        return inline(_CLOSING.sub("", _HEADING.sub("", text, count=1)))
    if text.startswith(("    ", "\t")) and not before.strip() and not _ITEM.match(text):
        return text
    while (item := _ITEM.match(text)) and text != item[1]:
        text = item[1] + text[item.end() :]
    if text.lstrip().startswith("|"):
        text = "\t".join(cell.strip() for cell in re.split(r"(?<!\\)\|", text.strip().strip("|")))
    return inline(text)


def inline(text: str) -> str:
    """Return a line without the markup of emphasis, links, images, HTML tags, and code."""
    if not any(mark in text for mark in "`*_[<&\\~"):
        return text
    held: list[str] = []

    def hold(text: str) -> str:
        held.append(text)
        return f"\ufdd1{len(held) - 1}\ufdd2"

    text = _HELD.sub("", text)
    text = _CODE.sub(lambda match: hold(_code(match[2])), text)
    text = _ESCAPED.sub(lambda match: hold(match[1]), text)
    text = _AUTOLINK.sub(lambda match: hold(match[1]), text)
    text = _LINK.sub(r"\1", _PICTURE.sub(r"\1", text))
    text = _TAG.sub("", text)
    for _ in range(2):
        text = _STRUCK.sub(r"\1", _UNDERSCORED.sub(r"\2", _STRONG.sub(r"\2", text)))
    return _HELD.sub(lambda match: held[int(match[1])], unescape(text))


def _code(content: str) -> str:
    return content[1:-1] if content[0] == content[-1] == " " and content.strip() else content
