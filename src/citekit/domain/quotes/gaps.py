"""Describes the text that an ellipsis in a quote omits, and decides whether the omission can change the meaning.

It can if the text contains a negation, an exception, or a condition, in one of several languages. Different languages
share spellings: "sin" is Spanish for "without" and an English noun. A shared spelling counts unless the surrounding
text is clearly in another language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from attrs import field, frozen

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.library.located_text import LocatedText
from citekit.domain.quotes.case import is_unit
from citekit.domain.quotes.characters import SEAM
from citekit.domain.quotes.normal_form import normalised
from citekit.domain.quotes.superscripts import CUT, visible_text

_CLEAR_WORDS = frozenset(
    """
    not never no nor none nobody nothing nowhere neither cannot without unless except excepting excluding excludes exclude
    excluded exception exceptions if only hardly scarcely barely rarely seldom until till whether provided providing
    otherwise instead fail fails failed failing refuse refuses refused deny denies denied lack lacks lacked lacking avoid
    prohibit prohibits prohibited forbid forbids forbidden false falsely untrue unlikely impossible contraindicated allegedly
    supposedly cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt mustnt hasnt havent hadnt aint
    nevermore naught nought notwithstanding nowise nary barring assuming supposing devoid insufficient insufficiently rejected
    rejects disapproved withdrawn void disproved disproves refuted refutes reputedly wrongly mistakenly ceased ceases stopped
    stops myth hoax
    nicht nichts nie niemals niemand niemanden niemandem nirgends nirgendwo kein keine keinen keinem keiner keines
    keinesfalls keineswegs weder ohne ausser ausgenommen ausnahme ausnahmen sofern wenn nur kaum lediglich
    vorausgesetzt statt anstatt verboten untersagt
    jamais aucun aucune aucunement nul nulle rien sauf hormis excepté seulement uniquement guère pourvu interdit
    jamás nunca ninguno ninguna ningún ningun nada nadie tampoco excepto salvo solo sólo solamente únicamente
    apenas prohibido
    nessuno nessuna nessun niente nulla neppure nemmeno neanche senza tranne eccetto soltanto purché qualora vietato
    não nao nenhum nenhuma ninguém nem sem exceto somente proibido
    niet niets nooit nergens geen zonder tenzij behalve uitgezonderd indien mits alleen slechts nauwelijks verboden
    """.split()  # noqa: SIM905
)
"""Words that count in any language, in normal form."""

_SHARED_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset("when whenever where once".split()),  # noqa: SIM905
    "de": frozenset("falls solange bevor nein".split()),  # noqa: SIM905
    "fr": frozenset("ne pas non si sans ni personne moins quand lorsque".split()),  # noqa: SIM905
    "es": frozenset("no si sin ni caso cuando".split()),  # noqa: SIM905
    "it": frozenset("non se no né mai quando caso".split()),  # noqa: SIM905
    "pt": frozenset("se só caso quando".split()),  # noqa: SIM905
    "nl": frozenset("als nee noch enkel wanneer".split()),  # noqa: SIM905
}
"""Words that count if the text may be in that language."""

_FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset("the of and to in is was that it for with as his her be are this which by from at".split()),  # noqa: SIM905
    "de": frozenset("der die das und ist den dem des ein eine zu mit von auf für im sich wird werden sind".split()),  # noqa: SIM905
    "fr": frozenset("le la les et est des une un du dans pour qui que sur par avec au aux il elle vous".split()),  # noqa: SIM905
    "es": frozenset("el la los las y es del un una en que por con para su al lo como está son".split()),  # noqa: SIM905
    "it": frozenset("il la le lo gli e è di del della un una che per con in nel alla sono dei".split()),  # noqa: SIM905
    "pt": frozenset("o a os as e é do da dos das um uma em que por com para no na são ao".split()),  # noqa: SIM905
    "nl": frozenset("de het een en is van in op te met voor dat zijn er aan wordt door bij die".split()),  # noqa: SIM905
}
_LEAST = 4
"""Minimum number of function words that identify a language."""

_SHARE = 0.4
"""A language with at least this share of the function words of the most likely language is also possible."""

_PHRASES = re.compile(
    r"\b(?:apart from|aside from|other than|rather than|subject to|save for|all but|but for|but not|too [a-z]+ to|as long as"
    r"|so long as|on condition|in case|in the event|far from|opposite of|absence of|anything but|free (?:of|from)"
    r"|(?:zero|0) times"
    r"|\u00e0 moins|au cas o\u00f9|\u00e0 condition"
    r"|en cas|con tal de|en caso|a menos|a meno|a condizione|in caso|a n\u00e3o ser|desde que|op voorwaarde|in plaats"
    r"|es sei denn|im falle|unter der bedingung|ebensowenig)\b"
)
_CONTRACTED = re.compile(r"n't\b|\bn'(?=[^\W\d_])")
_SIGNS = re.compile(
    "\u00ac|\u2209|\u2204|\u2284|\u2285|\u2260|\u226e|\u226f|\u2717|\u2718|\u274c|\U0001f6ab"
    r"|!=|~="
)
_UNSPACED = re.compile(
    "[\u4e0d\u6c92\u6ca1\u7121\u65e0\u672a\u975e\u83ab\u52ff\u5225\u522b\u5426\u7981\u53ea\u50c5\u4ec5\u9664]"
    "|\u5982\u679c|\u5047\u5982|\u82e5|\u9664\u975e|\u306a\u3044|\u306a\u304b|\u306a\u304f|\u306a\u3051|\u306a\u3089"
    "|\u306c|\u305a(?!\u3064|\u3089)|\u307e\u305b\u3093|\u3060\u3051|\u306e\u307f|\u4ee5\u5916|\u5834\u5408|\u3057\u304b|\u3082\u3057"
    "|\u4e8e\u5916|\u4f8b\u5916"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LIMIT = 8


_LOOK_ALIKES = str.maketrans(
    {
        **dict(
            zip(
                "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0442\u043a\u043c\u0432\u043d",
                "aeopcyxijshdqwtkmbh",
                strict=True,
            )
        ),
        **dict(zip("\u03bf\u03b1\u03bd\u03c1\u03c4\u03c5\u03c7\u03b9\u03ba\u03b5\u03b7", "oavptuxiken", strict=True)),
        **dict(zip("\u0578\u057d\u0585\u0570\u0566", "nuohq", strict=True)),
        **dict(
            zip(
                "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
                "abcdefghijklmnoprstuvwyz",
                strict=True,
            )
        ),
        **{chr(first + at): chr(97 + at) for first in (0x1F150, 0x1F170) for at in range(26)},
        "0": "o",
        "1": "i",
        "3": "e",
    }
)
"""Maps characters that are used in place of Latin letters to these letters: similar letters of other scripts, small
capitals, circled and squared letters, and digits. Some of them are confusables of UTS 39.
"""

_SPACED_LETTERS = re.compile(r"(?<![^\W_])[a-z](?:([ .*\u00b7\u2022-]{1,2})[a-z])(?:\1[a-z])*(?![^\W_])")
"""A word with a separator between its letters."""


def qualifiers(text: str, around: str = "") -> tuple[str, ...]:
    """Return the negations, exceptions, and conditions in `text`, in normal form: at most eight, without duplicates.

    `around` is the passage that contains `text`, which helps to recognize the language. A hyphen at a line end may be
    part of a word, so the text is searched both with and without it.
    """
    normal = normalised(visible_text(text)).text
    found: dict[str, None] = {}
    languages = _languages(f"{around} {text}")
    for reading in dict.fromkeys((normal.replace(SEAM, ""), normal.replace(SEAM, "-"))):
        found |= dict.fromkeys(_in_reading(reading, languages))
        found |= dict.fromkeys(_disguised(reading))
    return tuple(found)[:_LIMIT]


def _disguised(text: str) -> Iterator[str]:
    """Yield the words of `_CLEAR_WORDS` that are written with other characters or spaces, such as "not" with a Cyrillic
    letter.
    """
    plain = _plain_letters(text)
    as_written = {word[0] for word in _WORD.finditer(text)}
    for word in _WORD.finditer(plain):
        if word[0] in _CLEAR_WORDS and word[0] not in as_written:
            yield word[0]
    for spaced in _SPACED_LETTERS.finditer(plain):
        if "".join(filter(str.isalpha, spaced[0])) in _CLEAR_WORDS:
            yield spaced[0]


def _plain_letters(text: str) -> str:
    """Return `text` with look-alikes replaced by Latin letters, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_LOOK_ALIKES))
    return "".join(each for each in decomposed if not unicodedata.combining(each)).casefold().translate(_LOOK_ALIKES)


def _in_reading(text: str, languages: frozenset[str]) -> list[str]:
    shared = frozenset[str]().union(*(_SHARED_WORDS.get(each, frozenset()) for each in languages))
    found = [(each.start(), each[0]) for pattern in (_PHRASES, _SIGNS, _UNSPACED) for each in pattern.finditer(text)]
    for word in _WORD.finditer(text):
        bare = word[0].partition("'")[0]
        if (
            word[0] in _CLEAR_WORDS
            or bare in _CLEAR_WORDS
            or bare in shared
            or _CONTRACTED.search(word[0])
            or _is_non(word)
        ):
            found.append((word.start(), word[0]))
    return [word for _, word in sorted(found)]


def _is_non(word: re.Match[str]) -> bool:
    """Return whether the match is the separate word "non", a negation in several languages, not the prefix "non-"."""
    return word[0] == "non" and word.string[word.end() : word.end() + 1] != "-"


def _languages(text: str) -> frozenset[str]:
    """Return the languages that the text may be in, based on its function words, or all if it has too few of them."""
    words = Counter(normalised(text).text.split())
    counts = {
        language: sum(words[each] for each in function_words) for language, function_words in _FUNCTION_WORDS.items()
    }
    most = max(counts.values())
    if most < _LEAST:
        return frozenset(counts)
    return frozenset(language for language, count in counts.items() if count >= _SHARE * most)


SHOWN = 400
"""Maximum number of characters of omitted text in a result."""

LONG = 500
"""Minimum number of characters of a long omission."""

_AROUND = 600
_PHRASE_LENGTH = 40
_SENTENCE = re.compile(r"[.!?\u2026]['\"\u2019\u201d\u00bb)\]]*\s|[\u3002\uff01\uff1f]")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_NUMBER_BEFORE = re.compile(r"\d\s*\Z")
_UNIT_AFTER = re.compile(r"\s*([^\W\d_]+|[%\u2030\u00b0])")
_CROSSED = {UnitKind.PAGE: "crosses pages", UnitKind.CHAPTER: "crosses chapters"}


@frozen
class Gap:
    """The text that an ellipsis in a quote omits.

    `text` is shortened in the middle to about `SHOWN` characters; `length` is its full length. `qualifiers` are words
    in it that can reverse or restrict the statement. `remarks` state other reasons to read the omitted text.
    """

    text: str
    length: int
    qualifiers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    @property
    def changes_meaning(self) -> bool:
        """Whether the omission can change the meaning of the passage."""
        return bool(self.qualifiers) or NUMBER_FROM_UNIT in self.remarks


NUMBER_FROM_UNIT = "separates a number from a unit"


def gap_between(placed: LocatedText, start: int, end: int) -> Gap:
    """Return the gap for the omitted text `placed.text[start:end]`."""
    text = placed.text
    omitted = " ".join(visible_text(text[start:end]).split())
    around = visible_text(text[max(0, start - _AROUND) : start] + text[end : end + _AROUND])
    before, after = text[max(0, start - _PHRASE_LENGTH) : start], text[end : end + _PHRASE_LENGTH]
    found = dict.fromkeys(
        (
            *_straddling(before, text[start:end]),
            *qualifiers(text[start:end], around),
            *_straddling(text[start:end], after),
        )
    )
    return Gap(_shortened(omitted), len(omitted), tuple(found)[:_LIMIT], tuple(_remarks(placed, start, end)))


def _straddling(left: str, right: str) -> Iterator[str]:
    """Yield the phrases that begin in `left` and end in `right`, such as "a menos" if the quote omits only "menos"."""
    head = normalised(visible_text(left[-_PHRASE_LENGTH:])).text.strip()
    tail = normalised(visible_text(right[:_PHRASE_LENGTH])).text.strip()
    for phrase in _PHRASES.finditer(f"{head} {tail}"):
        if phrase.start() < len(head) < phrase.end():
            yield phrase[0]


def _remarks(placed: LocatedText, start: int, end: int) -> list[str]:
    text, omitted = placed.text, placed.text[start:end]
    remarks = []
    unit = _UNIT_AFTER.match(text, end)
    if _NUMBER_BEFORE.search(text[max(0, start - 8) : start]) and unit and (not unit[1].isalpha() or is_unit(unit[1])):
        remarks.append(NUMBER_FROM_UNIT)
    if _SENTENCE.search(text[max(0, start - 1) : end + 1]):
        remarks.append("crosses sentences")
    if _PARAGRAPH.search(omitted):
        remarks.append("crosses paragraphs")
    if CUT in omitted:
        remarks.append("crosses a break in the text")
    if start < end and isinstance(placed, ExtractedText) and placed.kind in _CROSSED:
        first, last = placed.unit_at(max(0, start - 1)), placed.unit_at(min(end, len(text) - 1))
        remarks += [_CROSSED[placed.kind]] * (first.number != last.number)
    if len(omitted) >= LONG:
        remarks.append("is long")
    return remarks


def _shortened(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN * 3 // 4]} [...] {text[-SHOWN // 4 :]}"
