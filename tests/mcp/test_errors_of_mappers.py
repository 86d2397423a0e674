"""An agent cannot give options of the command line, so errors of mappers name the variables of the server instead."""

from __future__ import annotations

from typing import cast

import pytest

from citekit.adapters.mappers.llm.openai.failures import no_key
from citekit.domain.errors import MapperUnavailable
from citekit.entrypoints.mcp.answers import Remedies, failure
from citekit.entrypoints.mcp.path_redaction import Discretion


def said(error: BaseException) -> str:
    (block,) = failure(
        error, cast("Discretion", lambda text, _: text), str, remedies=Remedies(remap=True, ingest=True, roots=True)
    ).content
    return str(getattr(block, "text", ""))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Allow more (--max-requests), or use --mapper local.", "(CITEKIT_MAX_REQUESTS), or use CITEKIT_MAPPER=local."),
        ("Choose another model (--model).", "Choose another model (CITEKIT_MODEL)."),
        ("fewer at the same time (--model-concurrency)", "(CITEKIT_MODEL_CONCURRENCY)"),
        ("limit (--timeout or CITEKIT_TIMEOUT), or", "limit (CITEKIT_TIMEOUT), or"),
        (str(no_key()), "needs no key (CITEKIT_BASE_URL), or map without a model (CITEKIT_MAPPER=local)."),
    ],
)
def test_options_are_named_as_variables(text: str, told: str) -> None:
    assert told in said(MapperUnavailable(text))
    assert "--" not in said(MapperUnavailable(text))
