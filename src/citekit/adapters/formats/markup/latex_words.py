r"""Extracts the visible text of LaTeX. Unknown commands are removed, or shown by name if `{}` or `\ ` follows them.

Text that must not be read as markup, because it is verbatim (`\verb|\x|`) or escaped (`\{`), is temporarily encoded as
Unicode noncharacters.
"""

from __future__ import annotations

import re
from types import MappingProxyType

_PROTECTED = str.maketrans("\\{}$~&", "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5")
_COMMAND_END = "\ufdd6"
"""Ends a command name before inserted text, which would otherwise continue the name."""

_RESTORED = str.maketrans("\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5", "\\{}$~&", f"{{}}${_COMMAND_END}")

_QUOTED = re.compile(r"\\(?:verb|lstinline)\*?([^\sA-Za-z*{\[])(.{0,500}?)\1")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_DROPPED = re.compile(
    r"\\(?:label|footnote(?:text|mark)?|index|(?=[A-Za-z]{0,30}cite)[A-Za-z]++|thanks|(?:page|eq|auto|name|v|c|C)?ref|[vh]space|"
    r"(?:text|page)?color|colorbox|href|hyperlink|hypertarget|foreignlanguage|selectlanguage|includegraphics|raisebox|"
    r"input|include|(?:fontsize|rule|setlength|addtolength|setcounter)\s*\{[^{}]*\})\*?\s*(?:\[[^\]]{0,300}\])*\s*\{[^{}]*\}"
    r"|\\[vh]skip\s*-?[\d.]+\s*(?:true)?[a-z]{2}(?![A-Za-z])"
)
"""Commands whose first argument (or first two) is not visible. Any further argument is visible."""

_SIGNS = {
    **dict.fromkeys(("\\ ", "\\,", "\\;", "\\:", "\\>", "~"), " "),
    **dict.fromkeys(("\\/", "\\-", "\\!", "\\@"), ""),
    **{f"\\{sign}": sign for sign in "%#_"},
    **{f"\\{sign}": sign.translate(_PROTECTED) for sign in "&${}"},
}
_SIGN = re.compile(r"\\\\\*?(?:\s*\[[^\]]{0,20}\])?|\\[ ,;:>/\-!@%#_&${}]|~")
_ACCENT = re.compile(
    r"(?<!\\)\\(?:([\"'`^~=.])\s*|([cvuHkrd])(?:\s+|(?=\{)))(?:\{\\?([^\W\d_])\}|\\([ij])(?![A-Za-z])\s?|([^\W\d_]))"
)
_MARKS = dict(
    zip(
        "\"'`^~=.cvuHkrd",
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a\u0323",
        strict=True,
    )
)
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_LETTERS = MappingProxyType(
    {
        **dict(
            zip(("ss", "ae", "oe", "o", "aa", "l", "AE", "OE", "O", "AA", "L", "i", "j"), "ßæœøåłÆŒØÅŁij", strict=True)
        ),
        **dict(zip(("ldots", "dots", "textellipsis", "S", "P", "copyright", "slash"), "………§¶©/", strict=True)),
        **dict(zip(("textendash", "textemdash", "textregistered", "texttrademark"), "–—®™", strict=True)),
        **dict(zip(("textunderscore", "textbackslash", "textasciitilde"), "_\ufdd0\ufdd4", strict=True)),
        **dict(zip(("leq", "le", "geq", "ge", "neq", "times", "infty", "cdot", "pm", "to"), "≤≤≥≥≠×∞·±→", strict=True)),
        **dict(zip(_GREEK.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", strict=True)),
        **dict.fromkeys(
            ("quad", "qquad", "space", "enspace", "thinspace", "newline", "linebreak", "par", "hfill"), " "
        ),
    }
)
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}}|(\s))?")
_WITHIN_WORDS = frozenset(("ss", "ae", "oe", "o", "aa", "l", "AE", "OE", "O", "AA", "L", "i", "j", "textbackslash"))
_TEX = re.compile(r"\\([A-Za-z]*TeX)(e?)(?![A-Za-z])(?:\{\})?")
_NAMED = re.compile(r"\\([A-Za-z]+)(?:\{\}|(?=\\ ))")
r"""Matches a command without arguments that is followed by `{}` or `\ `, which protect the space after it."""

_QUOTED_NAME = re.compile(r"(\\[A-Za-z]+\{)\\([A-Za-z]+)\}")
_COMMAND = re.compile(r"\\(?:texorpdfstring\s*\{([^{}]*)\}\s*\{[^{}]*\}|[A-Za-z@]+\*?\s*(?:\[[^\]]{0,300}\])?)")


def without_comment(line: str) -> str:
    """Return a line without the comment at its end, which begins with `%`."""
    return _COMMENT.sub(r"\1", line) if "%" in line else line


def quoted(line: str) -> str:
    r"""Return a line in which the content of `\verb` is encoded, so that it is not read as markup."""
    return _QUOTED.sub(lambda found: found[2].translate(_PROTECTED), line)


def plain(text: str) -> str:
    """Return the visible text of LaTeX source on one line. Labels, notes, and citations are removed."""
    import unicodedata

    flat = " ".join(text.split())
    if "\\" in flat:
        flat = _without_commands(quoted(flat))
    flat = flat.replace("~", " ").translate(_RESTORED)
    flat = flat.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return unicodedata.normalize("NFC", " ".join(flat.split()))


def _without_commands(flat: str) -> str:
    for _ in range(2):
        flat = _DROPPED.sub("", flat)
    flat = _ACCENT.sub(_accented, flat)
    flat = _LETTER.sub(_letter, flat)
    flat = _TEX.sub(lambda found: f"{_COMMAND_END}{found[1]}{'2e' if found[2] else ''}", flat)
    flat = _QUOTED_NAME.sub("\\1\ufdd0\\2}", _NAMED.sub(rf"{_COMMAND_END}\1", flat))
    flat = _SIGN.sub(lambda found: _SIGNS.get(found[0], " "), flat)
    return _COMMAND.sub(lambda found: found[1] or "", flat)


def _accented(found: re.Match[str]) -> str:
    return _COMMAND_END + (found[3] or found[4] or found[5]) + _MARKS[found[1] or found[2]]


def _letter(found: re.Match[str]) -> str:
    """Return the character of a LaTeX command. If it can be inside a word, the space after the command is removed, as
    in LaTeX.
    """
    return _COMMAND_END + _LETTERS[found[1]] + ("" if found[1] in _WITHIN_WORDS else found[2] or "")


def summarized(line: str) -> str:
    r"""Return the visible text of a line; "" for a comment or a command such as `\begin`."""
    text = without_comment(line)
    bare = text.strip()
    if bare.startswith(
        ("\\label", "\\begin", "\\end", "\\centering", "\\include", "\\input", "\\usepackage", "\\document")
    ):
        return ""
    return plain(text)
