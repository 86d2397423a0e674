"""Exported chats: their days, their people, and texts that only look like chats."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.formats.registry import handler_of
from citekit.adapters.formats.shared.outline import Outline
from citekit.container.parsers import Parsers
from citekit.domain.progress import silent
from tests.formats.texts import assert_sound, covered, source


def outline(path: Path, content: str) -> Outline:
    given = source(path, content)
    return handler_of(given.format).outliner(given.format, Parsers()).outline(given, silent)


FORMS = {
    "[{d}/{m}/{y}, 10:00:0{n} AM] {who}: {text}": "day, month, year",
    "\u200e[{y}-{m}-{d}, 10:00:0{n}] {who}: {text}": "year, month, day",
    "{d}.{m}.{s}, 10:0{n} - {who}: {text}": "day, month, year",
    "{m}/{d}/{s}, 10:0{n}\u202fPM - {who}: {text}": "month, day, year",
    "{y}/{m}/{d}, 10:0{n} pm - {who}: {text}": "year, month, day",
    "{d}.{m}.{y} klo 10.0{n} - {who}: {text}": "day, month, year",
}


@pytest.mark.parametrize("form", FORMS)
def test_days_and_people_of_every_form_of_date(tmp_path: Path, form: str) -> None:
    said = (
        ("01", 1, "Zoë", "Hello: you?"),
        ("01", 2, "Zoë", "Again\nand more"),
        ("01", 3, "+1 23", "Yes"),
        ("02", 1, "Zoë", "Day"),
    )
    lines = [form.format(d=day, m="12", y="2024", s="24", n=n, who=who, text=text) for day, n, who, text in said]
    notice = form.partition("{who}")[0].format(d="01", m="12", y="2024", s="24", n=0) + "Messages are encrypted."

    found = outline(tmp_path / "WhatsApp Chat with Zoë.txt", "\n".join([notice, *lines]))

    assert_sound(found)
    assert list(range(1, 7)) == covered(found)
    assert ["2024-12-01", "2024-12-02"] == [day.title for day in found.items]
    assert ["Zoë: Hello: you? Again", "+1 23: Yes"] == [turn.title for turn in found.items[0].children]
    assert {"Zoë": 3, "+1 23": 1} == found.facts["people"]
    assert (f"The dates are read as {FORMS[form]}.",) == found.notes


@pytest.mark.parametrize(
    "text",
    [
        "[2024-05-01 10:00:00] ERROR: disk\n[2024-05-01 10:00:01] INFO: fine\n[2024-05-01 10:00:02] INFO: fine\n",
        "A diary.\n\n01.12.2024, 10:00 - Anna: came\n\nThen nothing happened.\n",
        "[99/99/2024, 10:00] Anna: Hello\n[99/99/2024, 10:01] Ben: Hello\n",
        "",
    ],
)
def test_other_texts_are_no_chats(tmp_path: Path, text: str) -> None:
    assert "day" not in [item.type for item in outline(tmp_path / "a.txt", text).items]


def test_a_long_chat_is_divided_into_months(tmp_path: Path) -> None:
    days = [f"{day:02}.{month:02}.2024, 10:00 - Ann: Hi" for month in (1, 2, 3) for day in range(1, 29)]

    found = outline(tmp_path / "a.txt", "\n".join(days))

    assert [("2024-01", 28), ("2024-02", 28), ("2024-03", 28)] == [
        (each.title, len(each.children)) for each in found.items
    ]
