"""What is imported late is what it stands for."""

from __future__ import annotations

import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from citekit.container import App, bootstrap
from citekit.container.extractors import late_extractors
from citekit.container.lazy_proxy import Late, LateExtractor
from citekit.domain.formats import BY_SUFFIX, Format
from citekit.domain.locations import Lines, Location
from tests.strategies import locations

EXTRACTORS = late_extractors("pyav", lambda: bootstrap().parsers)


@given(st.sampled_from(list(BY_SUFFIX.values())), locations())
def test_a_late_extractor_cuts_what_its_own_one_cuts(format: Format, location: Location) -> None:
    for late in EXTRACTORS:
        assert isinstance(late, LateExtractor)
        assert list(late._made.forms(format, location)) == list(late.forms(format, location))


def test_a_late_extractor_is_made_once_whichever_thread_asks() -> None:
    made = []
    late = LateExtractor(lambda: made.append(1) or EXTRACTORS[1], Lines)  # type: ignore[func-returns-value]
    threads = [threading.Thread(target=lambda: late.identity) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [1] == made


def test_a_late_object_is_called_and_asked_as_the_one_it_stands_for() -> None:
    late = Late(lambda: "{}".format)

    assert ("a", "format") == (late("a"), late.__name__)


def test_the_app_is_found_where_it_always_was(tmp_path: Path) -> None:
    assert isinstance(bootstrap(home=tmp_path), App)
