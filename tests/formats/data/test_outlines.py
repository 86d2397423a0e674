"""JSON, YAML, TOML, INI, XML, tables, notebooks and logs: parts with the lines that an independent parser gives them."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.data.content import Content, read_content
from citekit.adapters.formats.data.csv import record_lines
from citekit.adapters.formats.data.groups import grouped, round_size
from citekit.adapters.formats.data.json_scan import scan, text_of
from citekit.adapters.formats.data.log_times import detect_timestamp_format
from citekit.adapters.formats.data.notebook import _cells
from citekit.adapters.formats.data.yaml import Block
from citekit.adapters.formats.registry import handler_of
from citekit.adapters.formats.shared.outline import Outline, make_nodes
from citekit.adapters.formats.shared.text_file import open_text
from citekit.container.parsers import Parsers
from citekit.domain.locations import Lines
from citekit.domain.progress import silent
from tests.formats.texts import source, spans

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\{[]},:/\n é', max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab"\\: ', max_size=4), inner, max_size=4),
    max_leaves=12,
)


def outline(path: Path, content: str | bytes) -> Outline:
    given = source(path, content)
    return handler_of(given.format).outliner(given.format, Parsers()).outline(given, silent)


def content_of(path: Path, data: bytes) -> Content:
    path.write_bytes(data)
    found = read_content(open_text(path))
    assert found is not None
    return found


@pytest.mark.long
@settings(max_examples=60)
@given(
    st.lists(plain_values, min_size=1, max_size=6) | st.dictionaries(st.text(max_size=5), plain_values, min_size=1),
    st.sampled_from([None, 1]),
)
def test_the_parts_of_json_are_those_of_the_standard_parser(value: object, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()

    parts = scan(data, 0)

    found = [json.loads(data[slice(*parts.value(index))]) for index in range(parts.count)]
    keys = [parts.key(data, index) for index in range(parts.count)]
    assert (parts.end, parts.whole) == (len(data), True)
    assert value == (dict(zip(keys, found, strict=True)) if isinstance(value, dict) else found)


def test_members_of_json_stand_on_their_lines(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", '{\n  "a": [1,\n  2],\n  "b": {"c": 3}, // so\n  "d": "x"\n}\n')

    assert [("a", 2, 3), ("b", 4, 4), ("d", 5, 5)] == spans(found)
    assert ["2 items, the first 1", "1 key: c", "x"] == [outline_item.summary for outline_item in found.items]


def test_long_arrays_are_grouped_by_index_and_long_members_nested(tmp_path: Path) -> None:
    rows = [{"name": f"n{number}"} for number in range(250)]

    found = outline(tmp_path / "a.json", json.dumps({"rows": rows}, indent=1))

    first = found.items[0].children[0]
    assert ("Items 0-9", Lines(3, 32)) == (first.title, first.location)
    assert 25 == len(found.items[0].children)


def test_json_on_a_single_line_has_a_note(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", b'{"a": "' + b"x" * 2_500_000 + b'", "b": [1]}')

    assert [("a", 1, 1), ("b", 1, 1)] == spans(found)
    assert "a single line" in found.notes[0]


@pytest.mark.parametrize("data", [b"[" * 9999, b'{"a":' * 9999, b'["a' * 9999, b"[/*" * 9999, b"[" + b"," * 9999])
def test_hostile_json_ends_in_a_map(tmp_path: Path, data: bytes) -> None:
    assert make_nodes(outline(tmp_path / "a.json", data))


def test_json_in_utf_16_has_the_lines_of_an_editor(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", '{"a": 1,\r\n"b": 2}'.encode("utf-16"))

    assert [("a", 1, 1), ("b", 2, 2)] == spans(found)


def test_json_that_breaks_off_says_so(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.json", '{"a": [1, 2,\n {"b": "c')

    assert [("a", 1, 2)] == spans(found)
    assert ["The JSON is incomplete: the file ends inside a value."] == list(found.notes)


def test_records_of_json_lines_are_numbered_blank_lines_left_out(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.jsonl", '{"id": 7}\n\n{"name": "x", "id": 8}\n')

    assert [("Record 1 7", 1, 1), ("Record 2 x", 3, 3)] == spans(found)
    assert 2 == found.facts["record_count"]


YAML = """# comment
name: x
"quoted key": |
  text: no key
list:
- a: 1
- b
flow: {a: 1,
b: 2}
text: "two
  lines: here"
# before last
last: &anchor
  inner: *anchor
"""


def test_keys_of_yaml_are_those_of_a_parser(tmp_path: Path) -> None:
    node = yaml.compose(YAML, Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    expected = [(key.value, key.start_mark.line + 1) for key, _ in node.value]

    found = outline(tmp_path / "a.yaml", YAML)

    assert expected == [(title, first) for title, first, _ in spans(found)]
    assert ("text", 10, 11) in spans(found)


@pytest.mark.long
@settings(max_examples=40)
@given(st.dictionaries(st.text("ab -:#'\"{é", min_size=1, max_size=5), plain_values, min_size=1, max_size=6))
def test_dumped_yaml_has_its_keys(tmp_path_factory: pytest.TempPathFactory, value: dict[str, object]) -> None:
    text = yaml.safe_dump(value, sort_keys=False, width=1000)
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    held = content_of(tmp_path_factory.getbasetemp() / "law.yaml", text.encode())

    found = [] if text.startswith("?") or "\n? " in text else Block(held).entries(1, held.text.line_count, 1)

    assert not found or [key.start_mark.line + 1 for key, _ in node.value] == [entry.first for entry in found]


def test_documents_of_yaml_are_named_by_kind_and_name(tmp_path: Path) -> None:
    found = outline(
        tmp_path / "a.yml", "kind: Pod\nmetadata:\n  name: web\n---\n# empty\n---\nkind: Service\nname: db\n"
    )

    assert [("Document 1 Pod web", 1, 3), ("Document 2 Service db", 6, 8)] == [
        span for span in spans(found) if span[0].startswith("Document")
    ]


def test_tables_of_toml_nest_and_arrays_are_no_headers(tmp_path: Path) -> None:
    text = 'a = [\n[1],\n]\nb = """\n[no]\n"""\n[tool]\nx = 1\n[tool.inner]\n[[item]]\nname = "one"\n[[item]]\n'

    found = outline(tmp_path / "a.toml", text)

    assert [
        ("Keys", 1, 6),
        ("tool", 7, 9),
        ("tool.inner", 9, 9),
        ("item", 10, 12),
        ("item[0] one", 10, 11),
        ("item[1]", 12, 12),
    ] == spans(found)


def test_sections_of_an_ini_file(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.ini", "top = 1\n[one]\na = 1\n; x\n[two]\nb: 2\n")

    assert [("Keys", 1, 1), ("one", 2, 4), ("two", 5, 6)] == spans(found)
    assert "1 key: a" == found.items[1].summary


def test_elements_of_xml_stand_on_the_lines_of_their_tags(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<rss><channel>\n<title>News</title>\n<item><title>One</title>\n</item>\n<item\n name="b"\n/>\n</channel></rss>'

    found = outline(tmp_path / "a.xml", text)

    assert [("title", 3, 3), ("item One", 4, 5), ("item b", 6, 8)] == spans(found)
    assert "News" == found.title


def test_an_xml_bomb_is_not_expanded(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE l [<!ENTITY e0 "{"lol" * 99}">{entities}]>\n<l>\n<a/>&e11;</l>'

    found = outline(tmp_path / "a.xml", text)

    assert ("a", 3, 3) in spans(found)
    assert found.notes


def test_what_is_open_where_xml_breaks_off_ends_there(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.xml", "<r>\n<a>\n<b/>\n<c>\n")

    assert [("b", 3, 3), ("c", 4, 4)] == spans(found)
    assert "cannot be parsed from line" in found.notes[0]


@given(
    st.lists(st.lists(st.text('ab",\n;é', max_size=5), min_size=2, max_size=4), min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n"]),
)
def test_records_begin_on_the_lines_that_the_standard_reader_counts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], end: str
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end).writerows(rows)
    text = written.getvalue()
    held = content_of(tmp_path_factory.getbasetemp() / "law.csv", text.encode())

    reader = csv.reader(io.StringIO(text, newline=""))
    expected, before = [], 0
    for row in reader:
        expected.extend([before + 1] if row else [])
        before = reader.line_num

    assert expected == list(record_lines(held, ","))


def test_a_table_has_a_header_and_groups_of_rows(tmp_path: Path) -> None:
    rows = "".join(f'{number};"note {number}\nmore"\n' for number in range(1, 101))

    found = outline(tmp_path / "a.csv", f"id;note\n{rows}")

    assert [("Header: id, note", 1, 1), ("Rows 1-50: 1 - 50", 2, 101), ("Rows 51-100: 51 - 100", 102, 201)] == spans(
        found
    )
    assert (100, 2, ["id", "note"]) == tuple(found.facts[name] for name in ("row_count", "column_count", "columns"))


def test_a_table_of_numbers_has_no_header(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.tsv", "1\t2\n3\t4\n")

    assert [("Rows 1-2: 1 - 3", 1, 2)] == spans(found)
    assert "columns" not in found.facts


def test_a_notebook_is_sections_over_cells_on_the_lines_of_the_file(tmp_path: Path) -> None:
    cells = [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": ["# Start\n", "\n", "Words that say something.\n", "## Inner\n"],
        },
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["import os\n"],
            "outputs": [{"output_type": "stream", "text": ["x"]}],
        },
        {"cell_type": "markdown", "metadata": {}, "source": ["# End"]},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    lines = text.split("\n")

    found = outline(tmp_path / "a.ipynb", text)

    nodes = {title: (first, last) for title, first, last in spans(found)}
    assert ["Start", "Inner", "Cell 2 (code): import os", "End"] == list(nodes)
    assert '"## Inner\\n"' in lines[nodes["Inner"][0] - 1]
    assert '"import os\\n"' in "".join(
        lines[nodes["Cell 2 (code): import os"][0] - 1 : nodes["Cell 2 (code): import os"][1]]
    )
    assert "1 line; outputs: text" == found.items[0].children[0].children[0].summary
    assert 3 == found.facts["cell_count"]


@pytest.mark.parametrize(
    "text", ['{"cells": "no"}', "[]", '{"cells":[1,{"source":5,"outputs":7}]}', '{"cells":[{"source":' + "[" * 9999]
)
def test_odd_notebooks_end_in_a_map(tmp_path: Path, text: str) -> None:
    assert make_nodes(outline(tmp_path / "a.ipynb", text))


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        (["2024-03-01T10:00:01 INFO a", "2024-03-01T11:00:00 ERROR b", "  at trace"], ["2024-03-01 10:00", "2024-03-01 11:00"]),
        (["Mar  1 10:00:01 host a[1]: b", "Mar  2 10:00:01 host a[1]: b"], ["03-01", "03-02"]),
        (['h - - [01/Mar/2024:10:00:01 +0000] "GET / HTTP/1.1" 404 1', 'h - - [01/Mar/2024:10:02:01 +0000] "GET / HTTP/1.1" 200 1'], ["2024-03-01 10:00", "2024-03-01 10:02"]),
        (["1700000000 a", "1700090000 b"], ["2023-11-14", "2023-11-15"]),
    ],
)  # fmt: skip
def test_logs_are_stretches_of_time(tmp_path: Path, lines: list[str], titles: list[str]) -> None:
    found = outline(tmp_path / "a.log", "\n".join(lines))

    assert titles == [outline_item.title for outline_item in found.items]
    assert found.items[-1].location == Lines(2, len(lines))


@pytest.mark.parametrize(
    "time",
    [
        "081109 203615 148 INFO",
        "08-11-09 20:36:15",
        "08/11/09 20:36:15 INFO",
        "[Sun Nov 09 20:36:15 2008]",
        "Sun Nov  9 20:36:15 UTC 2008",
        "Nov 9, 2008 8:36:15 PM org.a",
        "November 9, 2008 20:36",
        "Sun, 09 Nov 2008 20:36:15 +0000",
        "09-Nov-2008 20:36:15.123 INFO",
        "12:M 09 Nov 2008 20:36:15.123 *",
        "2008-Nov-09 20:36:15.12",
        "2008-11-09  20:36:15",
        "a.log.1.2008-11-09_13:53:08 2008-11-09 20:36:15.008",
        "- 1226262975 x",
        '{"level":"info","ts":1226262975.123}',
        "11/09/2008 08:36 PM",
        "9.11.2008 20:36:15",
    ],
)
def test_a_log_may_write_its_times_in_many_ways(time: str) -> None:
    stamp = detect_timestamp_format([time])

    assert stamp is not None
    days, minutes = divmod(stamp.minute(time) or 0, 1440)
    assert (date(2008, 11, 9), 20 * 60 + 36) == (date.fromordinal(days), minutes)


@pytest.mark.parametrize(
    "time", ["11-09 20:36:15.811 D", "[11.09 20:36:15]", "I1109 20:36:15.7 1 a.cc:1]", "09 Nov 20:36:15"]
)
def test_a_log_without_a_year_still_says_month_and_day(time: str) -> None:
    stamp = detect_timestamp_format([time])

    assert stamp is not None
    assert (11, 9) == (found := date.fromordinal((stamp.minute(time) or 0) // 1440)).timetuple()[1:3], found


def test_of_days_and_months_the_order_is_taken_that_fits_all_lines() -> None:
    lines = ["03/11/2008 10:00:00 a", "23/11/2008 10:00:00 b"]

    stamp = detect_timestamp_format(lines)

    assert stamp is not None
    assert [date(2008, 11, 3), date(2008, 11, 23)] == [
        date.fromordinal((stamp.minute(each) or 0) // 1440) for each in lines
    ]


def test_an_item_of_yaml_that_is_a_mapping_holds_its_keys(tmp_path: Path) -> None:
    steps = "".join(f"  step{n}: {n}\n" for n in range(30))

    found = outline(tmp_path / "a.yaml", f"- tracks:\n  - GA\n{steps}  name: job\n")

    assert ("tracks", "key", Lines(1, 2)) == (lambda each: (each.title, each.type, each.location))(
        found.items[0].children[0]
    )
    assert 32 == len(found.items[0].children)


def test_an_element_of_xml_without_others_in_it_says_its_text(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.xml", "<a>\n<b>one &amp; <!-- no -->two</b>\n<c/>\n</a>\n")

    assert [("b", "one & two"), ("c", None)] == [
        (outline_item.title, outline_item.summary) for outline_item in found.items
    ]


@pytest.mark.long
def test_only_the_busiest_hours_of_a_long_log_are_parted_into_minutes(tmp_path: Path) -> None:
    usual = [f"2026-03-{day:02} {at // 60:02}:{at % 60:02}:{second:02} x" for day in (1, 2, 3) for at in range(1440)
             for second in range(0, 60, 10)]  # fmt: skip
    busy = [f"2026-03-04 00:{minute:02}:{second:02} x" for minute in range(60) for second in range(60)]

    found = outline(tmp_path / "a.log", "\n".join([*usual, *busy, "2026-03-04 01:00:00 x"]))

    below = [[len(hour.children) for hour in day.children] for day in found.items]
    assert [[0] * 24, [0] * 24, [0] * 24, [60, 0]] == below


def test_a_log_counts_how_grave_its_entries_are(tmp_path: Path) -> None:
    text = "2024-03-01 10:00:01 ERROR a\n2024-03-01 10:00:02 INFO an errorless day\n2024-03-01 10:00:03 [warn] c\n"

    found = outline(tmp_path / "a.log", text)

    assert {"error": 1, "info": 1, "warning": 1} == found.facts["levels"]
    assert "3 entries (1 error, 1 warning, 1 info)" in (found.items[0].summary or "")


@given(st.integers(101, 3000), st.integers(1, 60))
def test_groups_cover_all_parts_once(count: int, least: int) -> None:
    found = grouped(count, lambda i, j: Lines(i + 1, j), lambda i, j: ("x", None), type="rows", least=least)

    leaves = [leaf.location for top in found for leaf in (top.children or (top,)) if isinstance(leaf.location, Lines)]
    assert list(range(1, count + 1)) == [line for each in leaves for line in range(each.first, each.last + 1)]
    assert len(leaves) <= 2500


def test_round_sizes() -> None:
    assert [1, 2, 5, 10, 20, 50, 5000] == [round_size(each) for each in (1, 2, 3, 9, 11, 21, 2001)]


@pytest.mark.parametrize(("level", "hashes"), [("2", 2), ('"x"', 1), ("-3", 1), ("9" * 90, 6), ("1e9", 1)])
def test_the_level_of_a_heading_cell_is_one_of_six(tmp_path: Path, level: str, hashes: int) -> None:
    cell = f'{{"cell_type": "heading", "level": {level}, "source": "Lakes"}}'
    path = tmp_path / "a.ipynb"
    path.write_text(f'{{"nbformat": 3, "worksheets": [{{"cells": [{cell}]}}]}}')

    (found,) = _cells(content_of(path, path.read_bytes()))

    assert found.text == f"{'#' * hashes} Lakes"


def test_a_key_of_nested_brackets_is_returned_as_written() -> None:
    key = b"[" * 1999
    data = b"{" + b"[" * 3000 + b"]" * 3000 + b": 1}"

    assert scan(data, 0).key(data, 0) == (key + b"[").decode()
    assert text_of(b"[" * 100_000 + b"]" * 100_000) == "[" * 100_000 + "]" * 100_000
