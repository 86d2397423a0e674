from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from citekit.adapters.mapping.local.media import MediaOutliner
from citekit.adapters.mapping.local.media.silence import kind_of
from citekit.adapters.mapping.local.media.subtitles import beside, read_cues
from citekit.adapters.mapping.local.media.topics import topics, vocabulary_shifts
from citekit.adapters.probing.pyav import PyAvProbe
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue
from citekit.domain.progress import silent
from tests.adapters.media_samples import ffmpeg, source, write_audio

LRC = "[ti:Song]\n[00:01.50]First <00:02.00>line\n[00:03.00][00:07.00]Again\n[00:05.00]\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.lrc", LRC, [(1.5, 3.0, "First line"), (3.0, 5.0, "Again"), (7.0, 9.0, "Again")]),
        ("a.lrc", f"[offset:+500]\n{LRC}", [(1.0, 2.5, "First line"), (2.5, 4.5, "Again"), (6.5, 9.0, "Again")]),
        (
            "a.txt",
            "00:01 Hello there.\n0:00:04 - And goodbye.\n",
            [(1.0, 4.0, "Hello there."), (4.0, 9.0, "And goodbye.")],
        ),
        (
            "a.ssa",
            "[V4 Styles]\nFormat: Name, Fontname\n[Events]\nFormat: Marked, Start, End, Text\n"
            "Dialogue: Marked=0,0:00:01.00,0:00:02.50,One, two\\Nthree\n",
            [(1.0, 2.5, "One, two three")],
        ),
    ],
)
def test_words_beside_a_recording_are_read(
    tmp_path: Path, name: str, text: str, expected: list[tuple[float, float, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text)

    assert [Cue(*each) for each in expected] == read_cues(path, 9.0)


def test_a_text_without_times_is_no_transcript(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Notes about the talk.\nAt 10:30 it began.\n")

    assert None is beside(tmp_path / "talk.mp3")


def test_subtitles_come_before_lyrics(tmp_path: Path) -> None:
    (tmp_path / "talk.lrc").write_text(LRC)
    (tmp_path / "talk.srt").write_text("1\n00:00:00,500 --> 00:00:01,500\nHello\n")

    assert tmp_path / "talk.srt" == beside(tmp_path / "talk.mp3")


def test_other_words_begin_another_topic() -> None:
    sea = "The sailors rowed their boat across stormy ocean waves"
    kitchen = "Butter flour sugar melted slowly inside this kitchen oven"
    chance = random.Random(1)
    said = [" ".join(chance.sample(text.split(), 6)) for text in [sea] * 30 + [kitchen] * 30]
    cues = [Cue(4.0 * number, 4.0 * number + 4.0, text) for number, text in enumerate(said)]

    shifts = vocabulary_shifts(said)
    found = topics(cues, 240.0, Modality.VIDEO)

    assert 30 == max(range(60), key=lambda place: shifts[place])
    assert [0.0, 120.0] == [getattr(draft.location, "start", None) for draft in found]


def test_chapters_of_ogg_comments_are_chapters(tmp_path: Path) -> None:
    words = tmp_path / "chapters.txt"
    words.write_text(
        ";FFMETADATA1\nCHAPTER000=00:00:00.000\nCHAPTER000NAME=First\nCHAPTER001=00:00:01.000\nCHAPTER001NAME=Second\n"
    )
    plain = write_audio(tmp_path / "plain.wav", seconds=2, rate=16000)
    path = tmp_path / "book.ogg"
    ffmpeg("-i", str(plain), "-i", str(words), "-map_metadata", "1", "-c:a", "libvorbis", str(path))

    found = MediaOutliner(PyAvProbe()).outline(source(path), silent)

    assert [("First", 0.0), ("Second", 1.0)] == [
        (draft.title, getattr(draft.location, "start", None)) for draft in found.drafts
    ]


def test_an_even_sound_is_not_called_speech() -> None:
    syllables = [-20.0 - 25.0 * (math.sin(2 * math.pi * 4 * number / 20) < -0.3) for number in range(200)]
    hum = [-20.0 - number % 3 for number in range(200)]

    assert ("speech", "sound") == (kind_of(syllables), kind_of(hum))


def test_a_short_stretch_is_taken_for_speech() -> None:
    assert "speech" == kind_of([-20.0] * 40)
