"""Plain texts and subtitles: every line covered once, encodings told, hostile sizes borne."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.code.outliner import CodeOutliner
from citekit.adapters.formats.html.outliner import HtmlOutliner
from citekit.adapters.formats.markup.rst import RstOutliner
from citekit.adapters.formats.plain_text.outliner import GROUP, PlainTextOutliner, group_lines
from citekit.adapters.formats.shared import text_file
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.roman_numbers import to_roman
from citekit.adapters.formats.shared.sections import section_openings
from citekit.adapters.formats.shared.text_file import open_text
from citekit.adapters.formats.subtitles.outliner import SubtitlesOutliner
from citekit.domain.line_index import index_lines
from citekit.domain.locations import Lines, Location
from citekit.domain.progress import silent
from tests.formats.texts import assert_sound, covered, source, spans

PARAGRAPH = "It was a long night, and nobody slept in the old house by the river.\n\n"
lines = st.sampled_from(
    ["", "", "CHAPTER 1", "CHAPTER II", "text here", "1. Intro", "1.1 More", "SHOUT", "=====", "ACT I", "\t"]
)


def outline(path: Path, content: str | bytes | None = None) -> Outline:
    return PlainTextOutliner().outline(source(path, content), silent)


def test_chapters_below_parts(tmp_path: Path) -> None:
    text = "A TALE\n\nPART ONE\n\nChapter 1\n\nText.\n\nChapter 2\n\nText.\n\nPART TWO\n\nChapter 1. The End\n\nText.\n"

    assert [
        ("A TALE", 1, 2),
        ("PART ONE", 3, 12),
        ("Chapter 1", 5, 8),
        ("Chapter 2", 9, 12),
        ("PART TWO", 13, 17),
        ("Chapter 1. The End", 15, 17),
    ] == list(spans(outline(tmp_path / "a.txt", text)))


def test_a_paragraph_that_begins_like_a_heading_is_none(tmp_path: Path) -> None:
    whale = (
        "BOOK I. (_Folio_), CHAPTER I. (_Sperm Whale_).—This whale, among the\nEnglish of old vaguely known as the "
        "Trumpa whale, and the Physeter\nwhale, and the Anvil Headed whale, is the present Cachalot of the\nFrench, "
        "and the Pottfisch of the Germans.\n\n"
    )
    text = f"CHAPTER 32. Cetology.\n\n{whale}CHAPTER 33. The Specksnyder.\n\n{PARAGRAPH}"

    assert [("CHAPTER 32. Cetology.", 1, 7), ("CHAPTER 33. The Specksnyder.", 8, 11)] == spans(
        outline(tmp_path / "a.txt", text)
    )


def test_a_heading_on_two_lines_and_text_directly_below_a_heading(tmp_path: Path) -> None:
    whaling = "CHAPTER 56. Of the Less Erroneous Pictures of Whales, and the True\nPictures of Whaling Scenes."
    brit = "CHAPTER 58. Brit.\nSteering north-eastward from the Crozetts, we fell in with vast meadows\nof brit.\n" * 2
    text = f"{whaling}\n\n{PARAGRAPH}{brit}\n"

    assert [(whaling.replace("\n", " "), 1, 5), ("CHAPTER 58. Brit.", 6, 12)] == spans(
        outline(tmp_path / "a.txt", text)
    )


def test_groups_in_a_chapter_are_titled_by_their_lines(tmp_path: Path) -> None:
    text = f"CHAPTER 1. Loomings.\n\n{PARAGRAPH * 90}CHAPTER 2. The Inn.\n\n{PARAGRAPH}"

    first, _ = outline(tmp_path / "a.txt", text).items

    assert ["Lines 1-40", "Lines 41-80", "Lines 81-120", "Lines 121-182"] == [each.title for each in first.children]
    assert first.children[1].summary == PARAGRAPH.strip()


def test_a_printed_table_of_contents_has_no_parts(tmp_path: Path) -> None:
    entries = [f"CHAPTER {number}. Title {number}.\n\n" for number in range(1, 131)]
    text = f"CONTENTS\n\n{''.join(entries)}{''.join(entry + PARAGRAPH for entry in entries)}"

    contents, *chapters = outline(tmp_path / "a.txt", text).items

    assert (contents.title, contents.location, contents.children) == ("CONTENTS", Lines(1, 262), ())
    assert len(chapters) == len(entries)


def test_a_line_in_capitals_that_ends_a_clause_is_no_heading(tmp_path: Path) -> None:
    text = f"ONE NIGHT;\n\nor, the house by the river\n\nETYMOLOGY\n\n{PARAGRAPH * 20}EXTRACTS\n\n{PARAGRAPH * 20}"

    assert ["ETYMOLOGY", "EXTRACTS"] == [title for title, *_ in spans(outline(tmp_path / "a.txt", text))][-2:]
    assert outline(tmp_path / "a.txt", text).items[0].type == "preamble"


def test_underlined_and_numbered_headings(tmp_path: Path) -> None:
    text = f"Alpha\n=====\n\n{PARAGRAPH * 8}Beta\n====\n\n{PARAGRAPH * 8}"

    assert [("Alpha", 1, 19), ("Beta", 20, 38)] == spans(outline(tmp_path / "a.txt", text))


def test_lines_of_a_paragraph_in_capitals_are_no_headings(tmp_path: Path) -> None:
    legal = "OR OF ANY KIND,\n\nEXPRESS OR IMPLIED, ARE MADE TO YOU AS\n\nTO THE TEXT.\n\n"
    text = f"FIRST PART\n\n{PARAGRAPH * 20}{legal}{PARAGRAPH * 20}SECOND PART\n\n{PARAGRAPH * 20}"

    assert [("FIRST PART", 1, 88), ("SECOND PART", 89, 130)] == spans(outline(tmp_path / "a.txt", text))


def test_numbered_titles_may_end_with_a_full_stop_where_sentences_do_not_count(tmp_path: Path) -> None:
    text = f"0. Definitions.\n\n{PARAGRAPH * 14}1. Stop the engine.\n\n{PARAGRAPH * 14}2. Basic Permissions.\n\n{PARAGRAPH * 14}"

    assert ["0. Definitions.", "2. Basic Permissions."] == [
        title for title, *_ in spans(outline(tmp_path / "a.txt", text))
    ]


def test_names_of_speakers_are_no_headings(tmp_path: Path) -> None:
    text = "".join(f"{name}\n\nWords are spoken.\n\n" for name in ("ROMEO", "JULIET") * 20)

    assert not {"ROMEO", "JULIET"} & {
        outline_item.title for outline_item in outline(tmp_path / "a.txt", text).items if outline_item.children
    }
    assert list(range(1, 161)) == covered(outline(tmp_path / "a.txt", text))


def _flat(items: Sequence[OutlineItem], level: int = 1) -> list[tuple[int, str, Location]]:
    return [
        each
        for item in items
        for each in ((level, item.title, item.location), *_flat(item.children, level + 1))
        if item.type != "lines"
    ]


@pytest.mark.long
@given(st.integers(3, 399), st.booleans())
def test_roman_numbers_that_count_are_headings(tmp_path_factory: pytest.TempPathFactory, count: int, dot: bool) -> None:
    poems = "".join(
        f"{to_roman(n).upper()}{'.' * dot}\n\n" + "A line of verse that sings,\n" * 14 + "\n"
        for n in range(1, count + 1)
    )

    found = outline(tmp_path_factory.mktemp("poems") / "a.txt", poems)

    assert [title for _, title, _ in _flat(found.items)] == [
        f"{to_roman(n).upper()}{'.' * dot}" for n in range(1, count + 1)
    ]


def test_a_letter_of_its_own_is_no_number(tmp_path: Path) -> None:
    text = "Words of a story.\n\nI\n\nMore words of it.\n\nC\n\nAnd more.\n\nV\n\n" + "And so on.\n" * 30

    assert _flat(outline(tmp_path / "a.txt", text).items) == []


def test_an_act_and_its_scene_on_one_line_are_two_levels(tmp_path: Path) -> None:
    scene = "A room in the castle.\n\n" + "HAMLET.\nWords, words.\n\n" * 5
    text = "".join(f"ACT {act}. SCENE {number}.\n\n{scene}" for act in ("I", "II") for number in ("I", "II"))

    found = _flat(outline(tmp_path / "a.txt", text).items)

    assert [(level, title) for level, title, _ in found] == [
        (1, "ACT I"), (2, "SCENE I."), (2, "SCENE II."), (1, "ACT II"), (2, "SCENE I."), (2, "SCENE II."),
    ]  # fmt: skip
    assert found[0][2] == Lines(1, 38)
    assert [location for _, _, location in found[1:3]] == [Lines(1, 19), Lines(20, 38)]


def test_a_number_and_a_title_in_capitals_are_one_heading(tmp_path: Path) -> None:
    stories = ["A SCANDAL IN BOHEMIA", "THE RED-HEADED LEAGUE", "A CASE OF IDENTITY"]
    text = "".join(
        f"{to_roman(n).upper()}.\n\n{title}\n\n" + "Prose goes on.\n" * 30 + "\n" for n, title in enumerate(stories, 1)
    )

    assert [title for _, title, _ in _flat(outline(tmp_path / "a.txt", text).items)] == [
        "I. A SCANDAL IN BOHEMIA", "II. THE RED-HEADED LEAGUE", "III. A CASE OF IDENTITY",
    ]  # fmt: skip


def test_a_printed_book_has_its_parts_next_to_its_preface_and_its_license_at_the_end(tmp_path: Path) -> None:
    body = "It blew.\n" * 80
    book = (
        "Title: The Storm\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE STORM ***\n\nPREFACE\n\nWords.\n\n"
        "CONTENTS\n\nCHAPTER\n\nI. THE WIND   3\n\nII. THE RAIN   9\n\nIII. THE CALM   12\n\nIV. THE END   20\n\n\n\n"
        f"CHAPTER I\n\nTHE WIND\n\n{body}\nCHAPTER II\n\nTHE RAIN\n\n{body}\nCHAPTER III\n\nTHE CALM\n\n{body}\n"
        f"CHAPTER IV\n\nTHE END\n\n{body}\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK THE STORM ***\n\nSection 1. Terms\n\nMore.\n"
    )
    found = outline(tmp_path / "storm.txt", book)

    assert_sound(found)
    assert found.title == "The Storm"
    assert [each[:2] for each in _flat(found.items)] == [
        (1, "Title: The Storm"),
        (1, "PREFACE"),
        (1, "CONTENTS"),
        (1, "CHAPTER"),
        (1, "CHAPTER I. THE WIND"),
        (1, "CHAPTER II. THE RAIN"),
        (1, "CHAPTER III. THE CALM"),
        (1, "CHAPTER IV. THE END"),
        (1, "END OF THIS PROJECT GUTENBERG EBOOK THE STORM"),
        (2, "Section 1. Terms"),
    ]


def test_long_sections_are_parted_into_groups(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.txt", f"Chapter 1\n\n{PARAGRAPH * 200}\nChapter 2\n\nx\n")

    assert len(found.items[0].children) > 4
    assert_sound(found)


def test_data_has_no_headings(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", "CHAPTER 1\n\nCHAPTER 2\n")

    assert [("CHAPTER 1", 1, 3)] == spans(found)


def test_one_very_long_line_is_one_node(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", b'{"a": "' + b"x" * 3_000_000 + b'"}')

    assert [(1, 1)] == [span[1:] for span in spans(found)]


@pytest.mark.long
def test_two_hundred_thousand_lines_give_a_bounded_tree(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.log", "entry\n" * 200_000)

    assert list(range(1, 200_001)) == covered(found)
    assert len(spans(found)) < 3000
    assert len(found.items) < 80


@given(st.lists(lines, min_size=1, max_size=60), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_line_is_covered_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, content: list[str], end: str
) -> None:
    found = outline(tmp_path_factory.getbasetemp() / "law.txt", end.join([*content, "end"]))

    assert_sound(found)
    assert list(range(1, len(content) + 2)) == covered(found)


@given(st.lists(st.booleans(), min_size=1, max_size=600), st.integers(1, 3))
def test_groups_cover_their_lines_once_in_order(blank: list[bool], scale: int) -> None:
    groups = group_lines((1, len(blank)), bytearray([0, *blank, 0]), scale)

    assert list(range(1, len(blank) + 1)) == [line for first, last in groups for line in range(first, last + 1)]
    assert all(last - first < GROUP[1] * scale for first, last in groups)


@pytest.mark.parametrize(
    ("encoding", "text", "told"),
    [
        ("utf-8", "naïve\nçedilla\n", "utf-8"),
        ("utf-8-sig", "naïve\nçedilla\n", "utf-8"),
        ("utf-16-le", "\ufeffnaïve\nсало\n", "utf-16-le"),
        ("utf-32-be", "\ufeffnaïve\nсало\n", "utf-32-be"),
        ("cp1252", "Une journée à la forêt, près de l’école où nous étions élèves.\n" * 3, "cp1252"),
        ("cp1251", "В гимназии он не был в числе первых учеников, исключение составляли\n" * 4, "cp1251"),
        ("shift_jis", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n" * 4, "cp932"),
        ("iso2022_jp", "吾輩は猫である。\nNo name yet.\n名前はまだ無い。\n", "iso2022_jp"),
    ],
)
def test_the_encoding_is_told(tmp_path: Path, encoding: str, text: str, told: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))

    found = open_text(path)

    assert told == found.encoding
    assert text.removeprefix("\ufeff").splitlines() == list(found.lines())


@pytest.mark.parametrize("lines", [1, 400])
def test_the_encoding_of_long_japanese_lines_is_recognized(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "a.txt"
    sentences = "\u3053\u306e\u6587\u7ae0\u306f\u65e5\u672c\u8a9e\u3067\u66f8\u304b\u308c\u3066\u3044\u308b\u3002" * 100
    path.write_bytes(f"{sentences}\n".encode("cp932") * lines)

    assert sentences == next(open_text(path).lines())


@given(
    st.text(st.sampled_from("ab\n\ré漢\x0b\x85\u2028"), max_size=60),
    st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]),
)
def test_lines_are_those_of_the_line_index(tmp_path_factory: pytest.TempPathFactory, text: str, encoding: str) -> None:
    data = f"\ufeff{text}".encode(encoding)
    path = tmp_path_factory.getbasetemp() / "law-lines.txt"
    path.write_bytes(data)

    found = open_text(path)

    assert index_lines([data]).count == found.line_count == len(list(found.lines()))
    assert text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n") == "\n".join(found.lines())


def subtitles(path: Path, content: str | bytes | None = None) -> Outline:
    return SubtitlesOutliner(PlainTextOutliner()).outline(source(path, content), silent)


def test_cues_are_gathered_into_stretches_parted_by_pauses(tmp_path: Path) -> None:
    cues = [(0, 20, "One."), (20, 40, "<i>Two.</i>"), (45, 60, "Three.")]
    text = "\n".join(f"{n}\n00:00:{a:02},000 --> 00:00:{b:02},500\n{said}\n" for n, (a, b, said) in enumerate(cues, 1))

    found = subtitles(tmp_path / "a.srt", text)

    assert [("0:00:00 - 0:00:40", 1, 8), ("0:00:45 - 0:01:00", 9, 11)] == spans(found)
    assert ["One. Two.", "Three."] == [outline_item.summary for outline_item in found.items]


def test_a_webvtt_header_with_text_is_a_preamble(tmp_path: Path) -> None:
    found = subtitles(tmp_path / "a.vtt", "WEBVTT\nKind: captions\n\n00:01.000 --> 00:02.000 align:start\nHello\n")

    assert [("Header", 1, 3), ("0:00:01 - 0:00:02", 4, 5)] == spans(found)


def test_subtitles_without_cues_fall_back(tmp_path: Path) -> None:
    assert [("nothing here", 1, 1)] == spans(subtitles(tmp_path / "a.srt", "nothing here\n"))


@pytest.mark.corpus
def test_real_texts_are_covered(corpus: Path) -> None:
    paths = [*(corpus / "text").iterdir(), *(corpus / "book").glob("*.txt"), *(corpus / "book").glob("*.fb2")]
    for path in sorted(paths):
        found = outline(path)
        held = covered(found)

        assert_sound(found)
        assert list(range(1, found.facts["line_count"] + 1)) == held, path.name


@pytest.mark.corpus
def test_real_subtitles_are_covered(corpus: Path) -> None:
    for path in sorted(each for each in (corpus / "subtitle").iterdir() if each.stat().st_size):
        found = subtitles(path)

        assert_sound(found)
        assert found.facts["line_count"] == covered(found)[-1]


@pytest.mark.corpus
def test_a_real_novel_has_its_chapters(corpus: Path) -> None:
    found = outline(corpus / "book" / "pride-and-prejudice.txt")

    assert [f"Chapter {number}" for number in range(1, 62)] == [outline_item.title for outline_item in found.items[1:]]


@pytest.mark.parametrize(
    ("name", "outliner"),
    [
        ("a.txt", PlainTextOutliner()),
        ("a.rst", RstOutliner(PlainTextOutliner())),
        ("a.srt", SubtitlesOutliner(PlainTextOutliner())),
        ("a.html", HtmlOutliner(PlainTextOutliner())),
    ],
)
def test_the_lines_of_a_long_text_are_not_all_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, outliner: Outliner
) -> None:
    monkeypatch.setattr(text_file, "LINES_LIMIT", 1000)
    seen: list[str] = []

    def watch(done: float, total: float | None = None, message: str = "") -> None:
        seen.append(message)

    found = outliner.outline(source(tmp_path / name, "CHAPTER 1\n\nwords\n" * 500), watch)

    assert {"counting lines"} == set(seen)
    assert list(range(1, 1501)) == covered(found)
    assert "CHAPTER 1" == found.items[0].title
    assert_sound(found)


def test_a_long_program_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "LINES_LIMIT", 10)

    short, long = (
        CodeOutliner().outline(source(tmp_path / "a.py", "def f():\n    pass\n" * count), silent) for count in (5, 6)
    )

    assert (["function"] * 5, ["lines"]) == ([each.type for each in short.items], [each.type for each in long.items])


@given(st.lists(st.sampled_from(["", "word", "two words", "ä"]), min_size=1, max_size=120), st.data())
def test_heads_are_the_first_lines_after_each_start(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "heads.txt"
    path.write_text("".join(f"{word}\n" for word in words))
    starts = data.draw(st.dictionaries(st.integers(1, len(words)), st.integers(0, 3), max_size=4))

    found = section_openings(open_text(path), starts)

    ends = {start: min([other for other in starts if other > start], default=len(words) + 1) for start in starts}
    assert {start: words[start - 1 : ends[start] - 1][height:][:40] for start, height in starts.items()} == found


def test_columns_entries_with_page_numbers_and_ends_of_captions_are_no_headings(tmp_path: Path) -> None:
    text = (
        "CONTENTS\n\nCHAPTER          PAGE\n\n  I. FESTIVE CUSTOMS      19\n\nV. CHAPELS AND WELLS .... 65\n\n"
        + "FESTIVE CUSTOMS[1]\n\n"
        + "Some text follows.\n" * 40
        + "\n[Illustration\n\nIN HIS ROBES AS BAILIFF.]\n\nCHAPELS AND WELLS\n\n"
        + "Some text follows.\n" * 40
    )

    found = PlainTextOutliner().outline(source(tmp_path / "a.txt", text), silent)

    titles = [title for title, _, _ in spans(found) if not title.startswith("Lines")]
    assert ["CONTENTS", "FESTIVE CUSTOMS[1]", "CHAPELS AND WELLS"] == titles
