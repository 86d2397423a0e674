"""Stand-ins that are created on first use behave like what they stand for; unknown ports are refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.container import Container, bootstrap
from citekit.container.extractors import LazyExtractor, lazy_extractors
from citekit.container.lazy_proxy import lazy
from citekit.domain.formats import BY_SUFFIX, Format
from citekit.domain.locations import Lines, Location
from tests.doubles.stores import InMemoryMapStore
from tests.strategies import locations

EXTRACTORS = lazy_extractors("pyav", lambda: bootstrap().parsers)


@given(st.sampled_from(list(BY_SUFFIX.values())), locations())
def test_a_lazy_extractor_offers_the_forms_of_the_extractor_it_stands_for(format: Format, location: Location) -> None:
    for stand_in in EXTRACTORS:
        assert isinstance(stand_in, LazyExtractor)
        assert list(stand_in._made.forms(format, location)) == list(stand_in.forms(format, location))


def test_a_lazy_extractor_is_created_once_whichever_thread_comes_first() -> None:
    made = []
    stand_in = LazyExtractor(lambda: made.append(1) or EXTRACTORS[1], Lines)  # type: ignore[func-returns-value]
    threads = [threading.Thread(target=lambda: stand_in.identity) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [1] == made


def test_a_stand_in_is_called_and_read_like_the_object_it_stands_for() -> None:
    stand_in = lazy(lambda: "{}".format)

    assert ("a", "format") == (stand_in("a"), stand_in.__name__)


def test_the_ports_that_a_caller_supplies_are_used(tmp_path: Path) -> None:
    maps = InMemoryMapStore()

    container = bootstrap(home=tmp_path, maps=maps)

    assert isinstance(container, Container)
    assert container.maps is maps


def test_a_misspelled_port_is_an_error_that_names_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"There is no port 'mapz'\. Did you mean 'maps'\?"):
        bootstrap(home=tmp_path, mapz=InMemoryMapStore())  # type: ignore[call-arg]
