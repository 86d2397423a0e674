"""Which setting the errors of model services name."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from citekit.container import bootstrap
from citekit.domain.errors import MapperUnavailable
from citekit.settings import settings_from

WRONG = "localhost:1"


@pytest.mark.parametrize("mapper", ["openai", "gemini"])
@pytest.mark.parametrize("variable", ["CITEKIT_BASE_URL", "--base-url"])
def test_an_error_about_the_address_names_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapper: str, variable: str
) -> None:
    environment = {"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
    if variable == "CITEKIT_BASE_URL":
        environment[variable] = WRONG
        monkeypatch.setenv(variable, WRONG)
    settings = evolve(settings_from(environment, tmp_path), mapper=mapper, base_url=WRONG, retries=0)
    file = tmp_path / "a.txt"
    file.write_text("# One\n\nText.\n")

    with pytest.raises(MapperUnavailable) as caught:
        bootstrap(settings).ingest(file)

    assert f"({variable})" in str(caught.value)
