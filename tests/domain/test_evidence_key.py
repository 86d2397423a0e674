from __future__ import annotations

from hypothesis import given

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, ExtractorIdentity, Form, Options
from citekit.domain.locations import Box, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from tests.strategies import extractor_identities, locations, options

SOURCE = Digest("ab" * 32)
WHO = ExtractorIdentity("pymupdf", "1")


def test_a_key_never_changes_from_one_release_to_the_next() -> None:
    key = EvidenceKey.of(SOURCE, Pages((12,), Box(0.1, 0.2, 0.9, 0.4)), WHO, Options())

    assert str(key) == "a9a680b45e1dd53a00120ef76adc4f887a6b4bb92479c02460400ab81a0c3b6f"


def test_every_ingredient_changes_the_key() -> None:
    keys = {
        EvidenceKey.of(SOURCE, TimeSpan(1, 2), WHO, Options()),
        EvidenceKey.of(Digest("cd" * 32), TimeSpan(1, 2), WHO, Options()),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2.5), WHO, Options()),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2, Modality.AUDIO), WHO, Options()),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2), ExtractorIdentity("other", "1"), Options()),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2), ExtractorIdentity("pymupdf", "2"), Options()),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2), WHO, Options(Form.FRAME)),
        EvidenceKey.of(SOURCE, TimeSpan(1, 2), WHO, Options(accurate=True)),
    }

    assert len(keys) == 8


@given(locations(), locations(), extractor_identities(), extractor_identities(), options(), options())
def test_keys_are_equal_exactly_when_all_ingredients_are(
    one: Location,
    other: Location,
    who: ExtractorIdentity,
    whom: ExtractorIdentity,
    how: Options,
    otherwise: Options,
) -> None:
    same = (one, who, how) == (other, whom, otherwise)

    assert same == (EvidenceKey.of(SOURCE, one, who, how) == EvidenceKey.of(SOURCE, other, whom, otherwise))
    assert EvidenceKey.of(SOURCE, one, who, how) == EvidenceKey.of(SOURCE, one, who, how)
