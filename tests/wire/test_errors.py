"""Errors of workers arrive as what they are."""

from __future__ import annotations

import pytest

from citekit.application.ingest_on_cluster import TEMPORARY
from citekit.domain.errors import CiteKitError
from citekit.wire.errors import from_plain_error, to_plain_error


@pytest.mark.parametrize("kind", TEMPORARY)
def test_a_temporary_error_of_a_worker_is_still_temporary(kind: type[CiteKitError]) -> None:
    arrived = from_plain_error(to_plain_error(kind("The store does not answer.")))

    assert (kind, "The store does not answer.") == (type(arrived), str(arrived))
