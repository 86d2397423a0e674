"""How a question is understood, and how pages are ranked by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.lexical import stems, tokens
from citekit.domain.locations import TimeSpan
from citekit.domain.ranking.best_lines import COST, MOST, best_lines
from citekit.domain.ranking.document_index import DocumentIndex, PageText, index_document
from citekit.domain.ranking.documents import DocumentMatches, asked_names, document_priors, name_terms
from citekit.domain.ranking.features import Features, first_stage, second_stage
from citekit.domain.ranking.named_places import NamedPlaces, pages_printed, places_in
from citekit.domain.ranking.question import parse_question
from citekit.domain.ranking.references import Label, labels_in, labels_of, pages_in
from citekit.domain.ranking.specifics import missing_share
from citekit.domain.ranking.statements import statement_of
from citekit.domain.ranking.weights import DOCUMENTS, FIRST_STAGE, PAGES, score_of

WORDS = st.sampled_from(
    ["total", "assets", "net", "sales", "2018", "the", "Figure 3", "12,5", "\n", "日本語", "Contents"]
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)


def document(*pages: str) -> DocumentIndex:
    return index_document(PageText(text, number) for number, text in enumerate(pages, 1))


def best(question: str, *pages: str) -> int:
    asked, index = parse_question(question), document(*pages)
    stage = first_stage(asked, index)
    scores = [second_stage(stage, at, text).dot(PAGES) for at, text in enumerate(pages)]
    return scores.index(max(scores)) + 1


@pytest.mark.parametrize(
    ("question", "pages", "last"),
    [
        ("What is on page 12?", {12}, False),
        ("Summarize pages 3-5", {3, 4, 5}, False),
        ("pages 3 and 900", {3, 900}, False),
        ("the second slide", {2}, False),
        ("on the 14th page", {14}, False),
        ("Who is on the cover?", {1}, False),
        ("the last page", set(), True),
        ("Was steht auf Seite 7?", {7}, False),
        ("第3ページには何がありますか", {3}, False),
        ("How many pages does it have?", set(), False),
    ],
)
def test_pages_in_a_question(question: str, pages: set[int], last: bool) -> None:
    assert (frozenset(pages), last) == pages_in(question)


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("In Figure 4, which nodes are retrieved?", [Label("figure", "4")]),
        ("according to table II", [Label("table", "2")]),
        ("Section 4.1 and Appendix B", [Label("section", "4.1"), Label("appendix", "b")]),
        ("Act 3 scene 2 of Hamlet", [Label("act", "3"), Label("scene", "2")]),
        ("Was zeigt Abbildung 3?", [Label("figure", "3")]),
        ("図3は何ですか", [Label("figure", "3")]),
        ("What does Genesis 1:3 say?", [Label("verse", "1:3")]),
        ("Who am I in this part?", []),
        ("Is section a good word?", []),
    ],
)
def test_labels_in_a_question(question: str, labels: list[Label]) -> None:
    assert labels == list(labels_in(question))


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("Figure 4: Querying", [Label("figure", "4")]),
        ("Fig. 3. Comparison", [Label("figure", "3")]),
        ("TABLE II", [Label("table", "2")]),
        ("ACT III", [Label("act", "3")]),
        ("ACT V.", [Label("act", "5")]),
        ("Appendix V", [Label("appendix", "v")]),
        ("ACT III. SCENE 2. A room in the castle", [Label("act", "3"), Label("scene", "2")]),
        ("Act III\u2014Scene ii", [Label("act", "3"), Label("scene", "2")]),
        ("3.2 Results", [Label("section", "3.2")]),
        ("1:3 And God said, Let there be light", [Label("verse", "1:3")]),
        ("10:30:15 a time", []),
        ("3.2", []),
        ("as Figure 4 shows", []),
    ],
)
def test_the_labels_of_a_line(line: str, labels: list[Label]) -> None:
    assert labels == list(labels_of(line))


def test_words_that_say_how_to_answer_are_dropped_and_fiscal_years_are_years() -> None:
    asked = parse_question("Please answer: what was the profit in FY18? Round to two decimals.")

    assert ("profi", "2018") == asked.stems
    assert asked.about_amounts
    assert ("round",) == parse_question("round").stems


def test_a_question_about_an_amount_prefers_the_statement_to_the_prose() -> None:
    prose = "Net sales\n" + "We discuss net sales of 2018 in words and at length. " * 8
    statement = (
        "Consolidated statement\nNet sales 2018 2017\nNet sales 32,765 31,657\nCost 16,682 16,055\nTax 1,637 2,679"
    )

    assert 2 == best("What were the net sales in 2018, in millions?", prose, statement, "something else", "more")


def test_a_metric_is_looked_for_by_what_it_is_computed_from() -> None:
    prose = "Our liquidity is fast. The ratio is a quick measure of it, as every ratio is, and quick ratios are common."
    sheet = "Balance sheet\nInventories 4,365 4,034\nTotal current assets 13,709 14,277\nTotal current liabilities 7,244 7,687"

    assert 2 == best("What is the quick ratio in 2018?", prose, sheet, "something else", "more")


@pytest.mark.parametrize("pages", [1, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_document_of_any_number_of_pages_is_ranked(pages: int) -> None:
    index = document(*(f"Chapter {number}. Bees eat honey in hive number {number}." for number in range(1, pages + 1)))

    scores = first_stage(parse_question(f"What do bees eat in hive number {pages}?"), index).scores(FIRST_STAGE)

    assert pages == len(scores) == 1 + scores.index(max(scores))


def test_a_page_that_is_named_is_first_even_without_text() -> None:
    assert 3 == best("What does page 3 say about honey?", "honey", "more honey", "", "bees")
    assert 2 == best("What does Figure 2 show?", "As figure 2 shows, it shows", "Figure 2: A hive", "Figure 3: Bees")


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Who enters in act 2, scene 1?", 4),
        ("Who enters in Act I, Scene II?", 3),
        ("Who enters in scene 2 of act 2?", 5),
        ("What happens in Act 2 Scene 9?", 4),
    ],
)
def test_a_scene_is_looked_for_in_its_act(question: str, page: int) -> None:
    contents = "CONTENTS\n" + "\n".join(
        f"SCENE {scene} A room . . . . {page}" for page, scene in enumerate(range(1, 9), 2)
    )
    pages = [
        contents,
        "ACT I\nSCENE I\nEnter a king",
        "SCENE II\nEnter a fool",
        "ACT II. SCENE I.\nEnter a queen",
        "SCENE II\nEnter a bear",
    ]

    assert page == best(question, *pages)


def test_a_verse_is_found_by_its_number() -> None:
    pages = [
        "The First Book\n1:1 In the beginning",
        "1:2 And the earth",
        "1:3 And he said: light\n1:4 And he saw",
        "2:3 Rest",
    ]

    assert 3 == best("What does 1:3 say?", *pages)


def test_a_table_of_contents_does_not_win_by_its_titles() -> None:
    contents = "Contents\n" + "\n".join(f"Winter food of bees . . . . . . {page}" for page in range(3, 15))

    assert 2 == best("What is the winter food of bees?", contents, "Winter food\nIn winter bees eat honey", "Other")


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5))
def test_features_are_shares_and_repetition_of_a_page_does_not_change_its_coverage(
    question: str, pages: list[str]
) -> None:
    asked, index = parse_question(question), document(*pages)
    stage = first_stage(asked, index)
    for at, score in enumerate(stage.scores(FIRST_STAGE)):
        features = second_stage(stage, at, pages[at])
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in (features.words, features.coverage, features.pairs))
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in (features.passage, features.whole_words, features.title))
        assert score == pytest.approx(stage.features(at).dot(FIRST_STAGE))
    doubled = document(*(f"{page}\n{page}" for page in pages))
    assert list(stage.coverage) == pytest.approx(list(first_stage(asked, doubled).coverage))


@given(TEXTS, TEXTS)
def test_the_best_lines_are_whole_lines(text: str, question: str) -> None:
    (start, end), _ = best_lines(text, dict.fromkeys(parse_question(question).stems, 1.0))

    assert 0 <= start <= end <= len(text)
    assert text[:start].endswith("\n") or start == 0
    assert text[end:].startswith("\n") or end == len(text)


@given(TEXTS, TEXTS)
def test_no_other_lines_are_worth_more_than_the_best(text: str, question: str) -> None:
    rarities = dict.fromkeys(parse_question(question).stems, 1.0)
    (start, end), _ = best_lines(text, rarities)

    lines = [line for line in text.split("\n") if line.strip()]
    groups = [lines[first : first + count] for first in range(len(lines)) for count in range(1, MOST + 1)]
    chosen = [line for line in text[start:end].split("\n") if line.strip()]
    assert all(worth_of(group, rarities) <= worth_of(chosen, rarities) + 1e-9 for group in groups)


def worth_of(lines: Sequence[str], rarities: Mapping[str, float]) -> float:
    found = {stem for line in lines for stem in stems(tokens(line)) if stem in rarities}
    return len(found) / max(1, len(rarities)) - COST * max(0, len(lines) - 1)


@given(TEXTS, TEXTS)
def test_further_lines_are_whole_lines_besides_the_best(text: str, question: str) -> None:
    best, further = best_lines(text, dict.fromkeys(parse_question(question).stems, 1.0))

    if further is not None:
        start, end = further
        assert 0 <= start < end <= len(text)
        assert (
            end <= best[0] or start >= best[1] or set(text[start:end].split("\n")) - set(text[slice(*best)].split("\n"))
        )
        assert text[:start].endswith("\n") or start == 0


def test_further_lines_have_the_words_that_the_best_lines_do_not_have() -> None:
    text = "Honey and wax\nnothing\nnothing\nnothing\nnothing\nthe price of it\nHoney"
    rarities = dict.fromkeys(parse_question("price of honey and wax").stems, 1.0)

    start, end = best_lines(text, rarities)[1] or (0, 0)
    assert "the price of it" == text[start:end]
    assert best_lines("Honey and wax\nnothing", rarities)[1] is None


def test_stuffing_a_page_with_the_words_of_a_question_gains_nothing() -> None:
    asked = parse_question("Who stores honey in the hive for the winter?")
    once, stuffed = "honey hive winter stores ", "honey hive winter stores " * 200
    stage = first_stage(asked, document(once, stuffed, "nothing"))

    assert stage.words[1] <= stage.words[0]
    assert stage.coverage[1] <= stage.coverage[0]


def test_a_document_is_found_by_its_name_written_together() -> None:
    question = parse_question("What were the sales of General Mills in fiscal 2018?")
    terms = {term for terms in asked_names(question) for term in terms}

    assert terms & name_terms(["GENERALMILLS_2018_10K"]) >= {"!gener", "!2018", "!generalmills"}


def test_documents_with_rare_words_and_fitting_names_come_first() -> None:
    question = parse_question("What were the sales of Acme in 2018?")
    sizes = {"a": 10, "b": 10, "c": 10, "d": 10}
    sales = {"sales": [DocumentMatches(5, 9, ["a", "b", "not searched"]), DocumentMatches(5, 9, ["c"])]}

    one = document_priors(question, {**sales, "acme": [DocumentMatches(9, 30, ["b"])]}, sizes, DOCUMENTS)
    named = document_priors(question, {**sales, "!acme": [DocumentMatches(0, 1, ["c", "d"])]}, sizes, DOCUMENTS)

    assert one["b"] > one["a"] == one["c"] > 0
    assert named["c"] > named["a"] == named["b"]
    assert {"a", "b", "c"} == set(one)
    assert {"a", "b", "c", "d"} == set(named)


@given(st.floats(-1e6, 1e6))
def test_scores_are_from_0_to_1_and_rise(weighted: float) -> None:
    assert 0 <= score_of(weighted) <= score_of(weighted + 1) <= 1


def test_weights_name_every_feature() -> None:
    assert all(value != 0 for value in (PAGES.dot(Features(**{name: 1.0})) for name in Features.__annotations__))


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What is on page xii?", NamedPlaces(frozenset(("xii",)))),
        ("on page A-3", NamedPlaces(frozenset(("a-3",)))),
        ("lines 130 to 120", NamedPlaces(lines=[(120, 130)])),
        ("line 0", NamedPlaces()),
        ("in Zeile 7", NamedPlaces(lines=[(7, 7)])),
        ("at minute 5", NamedPlaces(times=[(300, 360)])),
        ("in the first minute", NamedPlaces(times=[(0, 60)])),
        ("at 1:02:03", NamedPlaces(times=[(3723, 3724)])),
        ("Boil it for 5 minutes, in line with the recipe.", NamedPlaces()),
    ],
)
def test_places_in_a_question(question: str, places: NamedPlaces) -> None:
    assert places == places_in(question)


@given(
    st.text(max_size=40),
    st.lists(
        st.dictionaries(
            st.sampled_from(["first_page", "style", "prefix", "start"]), st.one_of(st.integers(), st.text())
        )
    ),
)
def test_only_pages_of_the_document_have_printed_numbers(label: str, rules: list[dict[str, int | str]]) -> None:
    assert all(1 <= page <= 9 for page in pages_printed(frozenset((label, "1", "i")), rules, 9))


def test_a_named_time_is_in_a_part_of_a_recording() -> None:
    places = places_in("What is said at minute 5?")

    assert places.include(TimeSpan(290, 310))
    assert not places.include(TimeSpan(0, 300))


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Assume that you are an analyst. What is the net debt? Answer in USD billions.", "What is the net debt?"),
        ("Base your answer on the details in the balance sheet: what is the net debt?", "what is the net debt?"),
        ("Is cash king? If it is not a useful metric, then state that and explain why.", "Is cash king?"),
        ("You are a lawyer. Here's the question: who pays?", "who pays?"),
        ("Welche Farbe hat das Haus? Antworte in einem Satz, keine Antwort ohne Beleg.", "Welche Farbe hat das Haus?"),
        ("Explain the offside rule", "Explain the offside rule"),
        ("Use of force: when is it allowed?", "Use of force: when is it allowed?"),
        ("If the king dies, who explains the will?", "If the king dies who explains the will?"),
        ("Round the answer.", "Round the answer."),
    ],
)
def test_sentences_that_only_say_how_to_answer_are_dropped(question: str, topic: str) -> None:
    assert topic.replace(",", "") == parse_question(question).meaning.replace(",", "")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("CONSOLIDATED BALANCE SHEETS", "position"),
        ("Consolidated Statements of Income (in millions)", "income"),
        ("CASH FLOWS STATEMENTS", "cash"),
        ("Consolidated Statements of Operations for the years ended 2019", "income"),
        ("Consolidated Balance Sheets 40", None),
        ("Our balance sheet is strong.", None),
    ],
)
def test_headings_of_financial_statements_are_recognized(line: str, kind: str | None) -> None:
    assert kind == statement_of(line)


STATEMENTS = [
    "We discuss cash flow, dividends, and capital expenditures at length. " * 9,
    "Consolidated Statements of Cash Flows\n" + "Payments for plant\t(1,577)\t(1,373)\t(1,420)\n" * 9,
    "Consolidated Balance Sheets\n" + "Inventories\t4,366\t4,034\t3,900\n" * 9,
    "Capital expenditures in the balance sheet and the cash flow statement are discussed. " * 9,
]


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("How high were dividends according to the cash flow statement?", 2),
        ("What are the inventories in the statement of financial position?", 3),
        ("What were the capital expenditures of 2018?", 2),
    ],
)
def test_a_statement_that_is_named_or_has_the_items_of_a_metric_is_found(question: str, page: int) -> None:
    assert page == best(question, *STATEMENTS)


@pytest.mark.parametrize(
    ("question", "specifics"),
    [
        ("What was Tesla's revenue in FY2021?", {"tesla", "2021"}),
        ("Why does Macduff, of all men, kill Macbeth?", {"macdu", "macbe"}),
        ("Welche Rolle spielt der Kaiser im Jahr 1871?", {"1871"}),
        ("What does Chapter 3 say about EPS in March?", set()),
        ("what did tesla sell", set()),
    ],
)
def test_names_and_years_of_a_question(question: str, specifics: set[str]) -> None:
    assert specifics == parse_question(question).specifics


@pytest.mark.parametrize(
    ("here", "names", "rarities", "share"),
    [
        ({"tesla", "2021"}, (), {}, 0.0),
        ({"2021"}, (), {}, 0.5),
        ({"2021"}, ("TESLA_2021_10K",), {}, 0.0),
        ({"2020"}, ("TESLA_2021_10K",), {}, 1.0),
        ({"2021"}, (), {"tesla": 0.2}, 0.0),
        (set[str](), (), {}, 1.0),
    ],
)
def test_how_many_names_and_years_a_page_does_not_have(
    here: set[str], names: tuple[str, ...], rarities: dict[str, float], share: float
) -> None:
    assert share == missing_share(frozenset(("tesla", "2021")), here, names, rarities)
