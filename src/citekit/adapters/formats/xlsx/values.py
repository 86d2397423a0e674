"""Formats the values of a workbook: numbers in full, dates as ISO 8601 (ECMA-376 part 1, 18.8.30 and 18.17.4)."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
"""The dates from which workbooks count days. With `EPOCH`, March 1, 1900, is day 61, as in Excel."""

_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)))
"""The built-in number formats for dates and times (18.8.30), including those of East Asian locales."""

_TOKEN = re.compile(
    r'\s*(?:(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|"((?:[^"]|"")*)"|(TRUE|FALSE)|(<>|<=|>=|[-+*/^&()=<>%]))\s*', re.I
)
_RANKS = {"=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5}
"""The ranks of the operators in formulas, the weakest first (18.17.2.2)."""

CONSTANT_LIMIT = 500
"""Maximum number of characters of a formula of constants that is computed."""

_QUIET = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DAY = re.compile(r"[dyhs]|m", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def shown_number(text: str, code: str, epoch: datetime = EPOCH) -> str:
    """Return the number `text` as text for display.

    If the number format `code` is a date format, the result is a date, a time, or both; days count from `epoch`. Text
    that is not a finite number is returned unchanged.
    """
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return (is_date_format(code) and _moment(number, epoch)) or plain_number(number)


def _moment(number: float, epoch: datetime) -> str | None:
    """Return a serial number as an ISO 8601 date, time, or both (ECMA-376 part 1, 18.17.4); None if it is out of range."""
    if epoch.year == 1899 and number < 60 and number >= 1:
        number += 1  # number 60 is February 29, 1900, which did not exist
    try:
        moment = epoch + timedelta(seconds=round(number * 86400))
    except (OverflowError, ValueError):
        return None
    if number < 0:
        return None
    if number < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d") if number == int(number) else moment.strftime("%Y-%m-%dT%H:%M:%S")


def plain_number(number: float) -> str:
    """Return a number as text, with at most 15 significant digits; integers below 10^15 have no decimal point."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else f"{number:.15g}"


def is_date_format(code: str) -> bool:
    """Return whether the number format `code` displays a date or a time; a built-in format is its ID in braces."""
    if code.startswith("{"):
        return int(code[1:-1]) in _DATES
    return bool(_DAY.search(_QUIET.sub("", code.partition(";")[0]))) and "general" not in code.lower()


def unescaped(text: str) -> str:
    """Return `text`, in which characters replace escapes such as `_x000D_` (ECMA-376 part 1, 22.9.2.19)."""
    return _ESCAPED.sub(lambda found: _character(int(found[1], 16), found[0]), text) if "_x" in text else text


def _character(code: int, written: str) -> str:
    return written if 0xD800 <= code <= 0xDFFF else chr(code)


def constant(formula: str) -> str | float | None:
    """Return the result of a formula that consists of constants, parentheses, and arithmetic or text operators.

    Return None for other formulas, such as comparisons, for long ones, and for those without a valid result (`=1/0`).
    """
    if len(formula) > CONSTANT_LIMIT:
        return None
    tokens, at = list[str | float](), 0
    text = formula.removeprefix("=")
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        number, words, truth, sign = found.groups()
        # a quotation mark before words distinguishes them from operators
        tokens.append(sign or (float(number) if number else float(truth.upper() == "TRUE") if truth else f'"{words}'))
        at = found.end()
    try:
        result = _computed(tokens, 0)
        return None if tokens or (isinstance(result, float) and not math.isfinite(result)) else result
    except (IndexError, ValueError, ArithmeticError, TypeError, RecursionError):
        return None


def _computed(tokens: list[str | float], least: int) -> str | float:
    """Compute and remove the tokens up to an operator whose rank is at most `least`."""
    result = _operand(tokens)
    while tokens and (rank := _RANKS.get(str(tokens[0]), 0)) > least:
        sign = tokens.pop(0)
        other = _computed(tokens, rank)
        result = _joined(str(sign), result, other)
    return result


def _operand(tokens: list[str | float]) -> str | float:
    part = tokens.pop(0)
    if part in ("-", "+"):
        value = float(_operand(tokens))
        return -value if part == "-" else value
    if part == "(":
        result = _computed(tokens, 0)
        if tokens.pop(0) != ")":
            raise ValueError(part)
    elif isinstance(part, str) and not part.startswith('"'):
        raise ValueError(part)
    else:
        result = part[1:].replace('""', '"') if isinstance(part, str) else part
    while tokens and tokens[0] == "%":
        tokens.pop(0)
        result = float(result) / 100
    return result


def _joined(sign: str, left: str | float, right: str | float) -> str | float:
    match sign:
        case "&":
            return "".join(each if isinstance(each, str) else plain_number(each) for each in (left, right))
        case "+":
            return float(left) + float(right)
        case "-":
            return float(left) - float(right)
        case "*":
            return float(left) * float(right)
        case "/":
            return float(left) / float(right)
        case "^":
            return math.pow(float(left), float(right))
    raise ValueError(sign)
