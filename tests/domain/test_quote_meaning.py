"""No quote holds that leaves out or changes what the source means; honest quotes hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import citekit
from citekit.domain.quotes.gaps import LONG, SHOWN, qualifiers
from tests.domain.test_quotes import found

SAMPLES = Path(citekit.__file__).parent / "samples"


@cache
def sentences() -> list[list[str]]:
    """The words of sentences of a manual, no word twice in one, without sentences that hold a qualifier."""
    with pypdfium2.PdfDocument(SAMPLES / "r-intro.pdf") as manual:
        texts = [manual[number].get_textpage().get_text_range() for number in range(10, 40)]
    split = [re.findall(r"[A-Za-z][a-z']*", each) for text in texts for each in re.split(r"[.!?:]\s+|\n\n", text)]
    lower = ((words, {word.lower() for word in words}) for words in split if 6 <= len(words) <= 30)
    plain = [words for words, different in lower if len(words) == len(different) and not qualifiers(" ".join(words))]
    assert len(plain) > 20
    return plain


def holds(text: str, quote: str) -> bool:
    """Whether a match keeps the meaning, as the verdict requires."""
    return any(not match.alters_meaning for match in found(text, quote))


QUALIFIERS = (
    """
    not|never|no|unless|except for the first|if asked|only|without water|provided that|hardly|don't|cannot|un-\nless|ne\u00adver
    nicht|niemals|kein|ohne|nur|sofern|au\u00dfer|jamais|sauf|seulement|nunca|salvo|solo si|excepto
    senza|tranne|soltanto|n\u00e3o|nunca|sem|exceto|somente|niet|geen|nooit|tenzij|zonder|alleen
    N\u041eT|not\u2014ever|isn\u2019t|\u4e0d|\u6ca1\u6709|\u9664\u975e|\u3057\u306a\u3044|\u2260
""".replace("N\u041eT", "NOT")
    .strip()
    .replace("\n    ", "|")
    .split("|")
)
INVARIABLE = (
    "unter der Bedingung|es sei denn|\u00e0 moins que|con tal de|a menos que|a condizione che|desde que|op voorwaarde"
)


@given(st.data())
def test_no_ellipsis_hides_a_qualifier(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(sentences()))
    qualifier = data.draw(st.sampled_from(QUALIFIERS + INVARIABLE.split("|")))
    at = data.draw(st.integers(1, len(words) - 1))
    before, after = data.draw(st.integers(0, at - 1)), data.draw(st.integers(at + 1, len(words)))
    left, right = data.draw(st.integers(before + 1, at)), data.draw(st.integers(at, after - 1))
    ellipsis = data.draw(st.sampled_from(["...", "\u2026", "[...]", "(\u2026)"]))
    text = " ".join((*words[:at], qualifier, *words[at:]))
    quote = " ".join((*words[before:left], ellipsis, *words[right:after]))

    assert not holds(text, quote)


DISGUISED = (
    "n\u043et", "\u0578\u043et", "no\u0165", "n\u00f3t", "\u0274ot", "\u24dd\u24de\u24e3", "\U0001f17d\U0001f17e\U0001f183", "n0t", "n-o-t", "n o t",
    "n.o.t.", "n\u200bot", "n\u043ething", "never\u200bmore", "anything but", "barring rain", "assuming rain", "devoid of",
    "free of being", "zero times", "nary", "nowise", "rejected as", "disproved as", "wrongly called", "reputedly",
    "once monitored", "when monitored", "where monitored", "ceased to be", "a myth that is",
)  # fmt: skip


@pytest.mark.parametrize("words", DISGUISED)
def test_no_ellipsis_hides_a_disguised_qualifier(words: str) -> None:
    text = f"In the trial of the spring the drug was {words} good for the small children in that group."

    assert not holds(text, "In the trial of the spring the drug was ... good for the small children")
    assert holds(
        text.replace(words, "always"), "In the trial of the spring the drug was ... good for the small children"
    )


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Sie d\u00fcrfen das Mittel mit dem Wein nicht nehmen", "Sie d\u00fcrfen das Mittel ... nehmen"),
        ("Das Mittel ist gut, falls der Arzt es sagt", "Das Mittel ist gut ... der Arzt es sagt"),
        ("Vous ne devez pas prendre le m\u00e9dicament avec du vin", "Vous ... prendre le m\u00e9dicament"),
        (
            "prenez le m\u00e9dicament du soir sans eau et avec le repas",
            "prenez le m\u00e9dicament du soir ... avec le repas",
        ),
        ("No se debe tomar el medicamento de la noche, si no lo dice el m\u00e9dico", "el medicamento ... lo dice"),
        ("tomar el medicamento de la noche sin agua", "tomar el medicamento ... agua"),
        ("Il paziente non deve prendere il farmaco", "Il paziente ... deve prendere il farmaco"),
        ("prendere il farmaco della sera se lo dice il medico", "prendere il farmaco ... il medico"),
        ("O paciente n\u00e3o deve tomar o rem\u00e9dio", "O paciente ... deve tomar o rem\u00e9dio"),
        ("tomar o rem\u00e9dio da noite se o m\u00e9dico o diz", "tomar o rem\u00e9dio ... o m\u00e9dico"),
        ("U mag het middel niet met wijn innemen", "U mag het middel ... innemen"),
        ("neem het middel als de arts het zegt", "neem het middel ... de arts het zegt"),
        (
            "\u3053\u306e\u85ac\u306f\u98f2\u307e\u306a\u3044\u3067\u304f\u3060\u3055\u3044",
            "\u3053\u306e\u85ac\u306f...\u304f\u3060\u3055\u3044",
        ),
        ("\u4f60\u4e0d\u53ef\u4ee5\u5403\u8fd9\u4e2a\u836f", "\u4f60...\u53ef\u4ee5\u5403\u8fd9\u4e2a\u836f"),
    ],
)
def test_qualifiers_of_a_language_count_in_its_texts(text: str, quote: str) -> None:
    assert found(text, quote)
    assert not holds(text, quote)


UNITS = "mg Mg mW MW kb kB Mb MB m M mm s S K k b B pH Pa mA MA kHz mHz MHz g G \u03bcg mV MV nm Gb GB dB ms L V W N h H".split()  # noqa: SIM905


def _recased(symbol: str) -> list[str]:
    spelled = {symbol.upper(), symbol.lower(), symbol.swapcase(), symbol.capitalize()}
    return sorted(each for each in spelled if each != symbol)


@given(st.data())
def test_no_quote_changes_the_case_of_a_unit(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(sentences()))
    at = data.draw(st.integers(0, len(words)))
    unit = data.draw(st.sampled_from(UNITS))
    other = data.draw(st.sampled_from(_recased(unit)))
    number = data.draw(st.sampled_from(["5", "0.25", "1\u202f000", "10\u2076"]))
    space = data.draw(st.sampled_from([" ", "\u00a0", ""]))
    shapes: list[Callable[[str], str]] = [str, str.upper]
    shape = data.draw(st.sampled_from(shapes))
    text = " ".join((*words[:at], f"{number}{space}{unit}", *words[at:]))
    quote = " ".join((*map(shape, words[:at]), f"{number}{space}{other}", *map(shape, words[at:])))

    assert not holds(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("A a menos que vector of elements.", "A ... vector"),
        ("You take it in case of fever as well.", "You take it in ... fever"),
        ("It is safe as long as you rest.", "It is safe as ... rest"),
    ],
)
def test_a_phrase_that_a_quote_keeps_a_word_of_is_still_a_qualifier(text: str, quote: str) -> None:
    assert not holds(text, quote)


@given(st.data())
def test_honest_quotes_hold(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(sentences()))
    first = data.draw(st.integers(0, len(words) - 3))
    last = data.draw(st.integers(first + 3, len(words)))
    text = f"Before. {' '.join(words)}. After."
    quote = " ".join(words[first:last])
    honest = data.draw(
        st.sampled_from(
            [
                quote,
                quote.replace(" ", "\n"),
                quote.replace("'", "\u2019").replace("fi", "\ufb01"),
                f"\u201c{quote}\u201d",
                f"{words[first]} ... {words[last - 1]}",
                *([f"{quote[:1].upper()}{quote[1:]}"] if len(words[first]) > 1 else []),  # "z" and "Z" are two symbols
                quote.replace("tion", "tion\u00ad"),
            ]
        )
    )

    assert holds(text, honest)


@given(st.data())
def test_headings_in_capitals_hold(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(sentences()))
    text = " ".join(words)

    assert holds(text, text.upper())
    assert holds(text.upper(), text)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("You must not take it.", "You must ... take it."),
        ("take 5 mg now", "take 5 MG now"),
        ("take 5 mg now", "TAKE 5 MG NOW"),
        ("emits 10 mW here", "emits 10 MW here"),
        ("a dose in mg daily", "a dose in Mg daily"),
        ("5 m/s of wind", "5 M/S of wind"),
        ("find x there", "find X there"),
        ("the ion Co here", "the ion CO here"),
        ("told us so", "told US so"),
        ("a Ph of 7", "a pH of 7"),
        ("where k = 3 is", "where K = 3 is"),
        ("it fell by 5% then", "it fell by 5"),
        ("it fell by 5 % then", "it fell by 5"),
        ("it costs $5 now", "5 now"),
        ("it costs 5 \u20ac now", "it costs 5"),
        ("with p < 0.05 here", "0.05 here"),
        ("with p \u2264 0.05 here", "with p < 0.05 here"),
        ("with p \u2264 0.05 here", "0.05 here"),
        ("a gain of \u00b15 dB", "a gain of +5 dB"),
        ("pages 5-10 of it", "pages 510 of it"),
        ("it has 1.500 parts", "it has 1,500 parts"),
        ("it has 1 500 parts", "it has 1500 parts"),
        ("some 10\u2076 parts", "some 106 parts"),
        ("at \u22125 \u00b0C here", "at 5 \u00b0C here"),
        ("un\u00ad\nhappy people", "happy people"),
        ("un\u00adhappy people", "happy people"),
        ("un-\nhappy people", "happy people"),
        ("if !valid then", "valid then"),
        ("You must [not] take it", "You must take it"),
        ("You must take it", "You must [always] take it"),
        ("take 5 g of salt and 3 mg of zinc", "take 5 ... mg of zinc"),
    ],
)
def test_a_changed_meaning_does_not_hold(text: str, quote: str) -> None:
    assert not holds(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It's an X-ray of the hand", "IT'S AN X-RAY OF THE HAND"),
        ("It's an x-ray of the hand", "It\u2019s an X-Ray Of The Hand"),
        ("once upon a time", "Once Upon A Time"),
        ("in the end. A man came", "a man came"),
        ("the pH of pure water", "THE PH OF PURE WATER"),
        ("at 5 pm sharp", "at 5 PM sharp"),
        ("the 1st of May", "THE 1ST OF MAY"),
        ("Chapter 5 a new hope begins", "CHAPTER 5 A NEW HOPE BEGINS"),
        ("do not touch", "do NOT touch"),
        ("calling lm will fit the model", "CALLING LM WILL FIT THE MODEL"),
        ("bitte sagen Sie es, um Zeit zu sparen", "BITTE SAGEN SIE ES, UM ZEIT ZU SPAREN"),
        ("an i386 architecture image", "An I386 Architecture Image"),
        ("he is _not_ a trifling man", "He Is _not_ A Trifling Man"),
        ('"No," she said, and left', '\u201c"No," she said, and left\u201d'),
        ("creare un file da utilizzare", "CREARE UN FILE DA UTILIZZARE"),
        ("l'eau de mer", "L'EAU DE MER"),
        ("THE QUICK brown fox", "The quick brown fox"),
        ("take 5 mg now", "Take 5 mg now"),
        ("> 5 apples a day", "5 apples a day"),
        ("The model, which we built in May, is small", "The model ... is small"),
        ("see the sin of pride in the house of the lord", "see the ... house of the lord"),
    ],
)
def test_a_change_of_typesetting_holds(text: str, quote: str) -> None:
    assert holds(text, quote)


def test_the_omitted_text_is_shown_in_bounds() -> None:
    filler = "and so on. " * 100
    (match,) = found(f"It must be {filler}of good use to all of us", "It must be and so on ... of good use to all")

    (gap,) = match.gaps
    assert gap.length >= LONG
    assert len(gap.text) <= SHOWN + 10
    assert {"is long", "crosses sentences"} <= set(gap.remarks)
    assert not gap.changes_meaning


def test_a_gap_over_pages_says_so() -> None:
    (match,) = found("alpha beta gamma", "alpha ... gamma")

    assert ("beta", ()) == (match.gaps[0].text, match.gaps[0].remarks)


def test_the_tightest_passage_is_judged() -> None:
    (match,) = found("It must not be so. You must always take it", "must ... take it")

    assert "always" == match.gaps[0].text


@pytest.mark.parametrize(
    "unit", ["mIU", "mU", "mEq", "mOsm", "mOhm", "mohm", "mNm", "mTorr", "mrem", "mPas", "mVrms", "mWth", "mWp", "mvar"]
)
def test_a_quote_does_not_turn_thousandths_into_millions(unit: str) -> None:
    assert holds(f"set to 5 {unit} at noon", f"5 {unit} at noon")
    assert not holds(f"set to 5 {unit} at noon", f"5 M{unit[1:]} at noon")


@pytest.mark.parametrize("sign", "\u2264\u2a7d\u2272\u226e\u00b1\u223c")
def test_a_quote_does_not_begin_after_the_sign_of_its_number(sign: str) -> None:
    assert not holds(f"a gain of {sign}5 in June", "5 in June")


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("so 5 \u2212 \u22123 = 8 here", "5 \u2212 3 = 8"),
        ("so 5 - -3 = 8 here", "5 - 3 = 8"),
        ("so a \u2212\u22125 x here", "a \u22125 x"),
        ("from 10 \u2013 \u22125 degrees", "10 \u2013 5 degrees"),
    ],
)
def test_a_quote_does_not_drop_one_of_two_minus_signs(source: str, quote: str) -> None:
    assert not holds(source, quote)
    assert holds(source, source)


def test_two_hyphens_are_one_dash() -> None:
    assert holds("in the years 1990\u20131995 of it", "the years 1990--1995 of it")


@pytest.mark.parametrize("quote", ["is 5-3 degrees", "is 5 - 3 degrees", "is 5 -3 degrees", "is 5- 3 degrees"])
@pytest.mark.parametrize("source", ["is 5-3 degrees", "is 5 - 3 degrees", "is 5 -3 degrees", "is 5- 3 degrees"])
def test_a_quote_does_not_make_a_dash_a_minus_sign(source: str, quote: str) -> None:
    is_sign = " -3" in source
    assert holds(f"What it {source} here", quote) is (is_sign == (" -3" in quote))


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("of 20 - 40 degrees", "-40 degrees"),
        ("of Covid-19 cases", "-19 cases"),
        ("temperature -3 and", "temperature-3 and"),
        ("- 40 degrees", "-40 degrees"),
        ("between 3 and \u22125", "between 3 and \u2013 5"),
    ],
)
def test_a_quote_gives_no_number_a_sign_and_takes_none_away(source: str, quote: str) -> None:
    assert not holds(source, quote)


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("x = \u2212 3 and", "x = \u22123 and"),
        ("the years 1990 \u2013 1995", "the years 1990\u20131995"),
        ("from -40 degrees", "-40 degrees"),
        ("of (\u22125) or", "(-5) or"),
    ],
)
def test_a_dash_with_the_same_meaning_may_look_different(source: str, quote: str) -> None:
    assert holds(source, quote)
