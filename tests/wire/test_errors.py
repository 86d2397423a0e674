"""Errors of workers arrive as what they are."""

from __future__ import annotations

import pytest

from citekit.application.ingest_on_cluster import TEMPORARY
from citekit.domain.errors import CiteKitError, LocationMalformed, MapCorrupt, PathNotAllowed, SourceUnsupported
from citekit.wire.errors import from_plain_error, to_plain_error


@pytest.mark.parametrize("kind", TEMPORARY)
def test_a_temporary_error_of_a_worker_is_still_temporary(kind: type[CiteKitError]) -> None:
    arrived = from_plain_error(to_plain_error(kind("The store does not answer.")))

    assert (kind, "The store does not answer.") == (type(arrived), str(arrived))


@pytest.mark.parametrize("kind", [LocationMalformed, MapCorrupt])
def test_an_error_that_is_made_from_its_text_arrives_as_what_it_is(kind: type[CiteKitError]) -> None:
    arrived = from_plain_error(to_plain_error(kind("The map is damaged.")))

    assert (kind, "The map is damaged.") == (type(arrived), str(arrived))


def test_an_error_that_needs_more_than_its_text_arrives_as_an_unsupported_file() -> None:
    arrived = from_plain_error(to_plain_error(PathNotAllowed("No client may read it.", "/a")))

    assert (SourceUnsupported, "No client may read it.") == (type(arrived), str(arrived))
