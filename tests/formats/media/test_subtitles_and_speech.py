from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from citekit.adapters.formats.media.outline.outliner import MediaOutliner
from citekit.adapters.formats.media.outline.speaker_change import find_changes
from citekit.adapters.formats.media.outline.speech import classify_sound, find_sound_segments, required_length
from citekit.adapters.formats.media.outline.topics import topics_from_cues, vocabulary_shifts
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
from citekit.domain.errors import Cancelled
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue
from citekit.domain.progress import silent
from tests.formats.media.media_samples import ffmpeg, source, write_audio

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
def test_sidecar_lyrics_of_a_recording_are_read(
    tmp_path: Path, name: str, text: str, expected: list[tuple[float, float, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text)

    assert [Cue(*each) for each in expected] == read_cues(path, 9.0)


def test_a_text_without_times_is_not_a_transcript(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Notes about the talk.\nAt 10:30 it began.\n")

    assert None is find_sidecar(tmp_path / "talk.mp3")


def test_subtitles_take_precedence_over_lyrics(tmp_path: Path) -> None:
    (tmp_path / "talk.lrc").write_text(LRC)
    (tmp_path / "talk.srt").write_text("1\n00:00:00,500 --> 00:00:01,500\nHello\n")

    assert tmp_path / "talk.srt" == find_sidecar(tmp_path / "talk.mp3")


def test_a_change_of_vocabulary_starts_another_topic() -> None:
    sea = "The sailors rowed their boat across stormy ocean waves"
    kitchen = "Butter flour sugar melted slowly inside this kitchen oven"
    chance = random.Random(1)
    texts = [" ".join(chance.sample(text.split(), 6)) for text in [sea] * 30 + [kitchen] * 30]
    cues = [Cue(4.0 * number, 4.0 * number + 4.0, text) for number, text in enumerate(texts)]

    shifts = vocabulary_shifts(texts)
    found = topics_from_cues(cues, 240.0, Modality.VIDEO)

    assert 30 == max(range(60), key=lambda place: shifts[place])
    assert [0.0, 120.0] == [getattr(outline_item.location, "start", None) for outline_item in found]


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
        (outline_item.title, getattr(outline_item.location, "start", None)) for outline_item in found.items
    ]


def test_an_even_sound_is_not_classified_as_speech() -> None:
    syllables = [-20.0 - 25.0 * (math.sin(2 * math.pi * 4 * number / 20) < -0.3) for number in range(200)]
    hum = [-20.0 - number % 3 for number in range(200)]

    assert ("speech", "sound") == (classify_sound(syllables), classify_sound(hum))


def test_a_short_segment_is_classified_as_speech() -> None:
    assert "speech" == classify_sound([-20.0] * 40)


def test_a_change_of_sound_is_found_without_a_pause(tmp_path: Path) -> None:
    path = tmp_path / "two.wav"
    one, other = (f"anoisesrc=r=8000:d=8:c={colour}:seed=1,tremolo=f=4:d=0.95" for colour in ("pink", "white"))
    ffmpeg("-filter_complex", f"aevalsrc=0:s=8000:d=1.5[q];{one}[a];{other}[b];[q][a][b]concat=n=3:v=0:a=1", str(path))

    found = find_sound_segments(path, 17.5, silent)

    assert ["speech", "speech"] == [each.kind for each in found]
    assert [1.4, 9.5] == pytest.approx([each.start for each in found], abs=0.4)


def test_two_voices_are_split_and_one_is_not() -> None:
    chance = random.Random(3)
    one = [[chance.gauss(0, 1) for _ in range(4)] for _ in range(200)]
    other = [[chance.gauss(1.5, 0.5) for _ in range(4)] for _ in range(200)]
    both = one + other

    assert [] == find_changes(200, lambda window: one[window])
    assert [200] == [pytest.approx(place, abs=8) for place in find_changes(400, lambda window: both[window])]


def test_a_slowly_changing_sound_is_not_split() -> None:
    chance = random.Random(4)
    rising = [[window / 40 + chance.gauss(0, 0.05), chance.gauss(0, 0.05)] for window in range(400)]

    assert [] == find_changes(400, lambda window: rising[window])


def test_listening_for_voices_can_be_cancelled() -> None:
    def stop() -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        find_changes(100, lambda window: [float(window % 7)], stop)


@pytest.mark.parametrize(
    ("loud", "expected"),
    [
        ([(1, 2), (2.5, 8), (10.5, 16)], [(0.9, 8.1, "sound"), (10.4, 16, "sound")]),
        ([(1, 9), (9.45, 16)], [(0.9, 16, "sound")]),
    ],
    ids=["a short stretch is joined to its neighbour", "noise goes on after a short pause"],
)
def test_short_pauses_do_not_split_everything(
    tmp_path: Path, loud: list[tuple[float, float]], expected: list[tuple[float, float, str]]
) -> None:
    path = tmp_path / "noise.wav"
    on = "+".join(f"between(t,{start},{end})" for start, end in loud)
    noise = "anoisesrc=r=8000:d=16:c=pink:seed=1"
    ffmpeg("-f", "lavfi", "-i", noise, "-af", f"volume=0:enable='not({on})':eval=frame", str(path))

    found = find_sound_segments(path, 16.0, silent)

    assert [kind for *_, kind in expected] == [each.kind for each in found]
    assert [time for *span, _ in expected for time in span] == pytest.approx(
        [time for each in found for time in (each.start, each.end)], abs=0.2
    )


def test_audio_with_a_changing_sample_rate_is_analyzed_to_its_end(tmp_path: Path) -> None:
    parts = []
    for rate, layout in (("44100", "stereo"), ("22050", "mono")):
        part = tmp_path / f"{rate}.mp3"
        noise = f"anoisesrc=r={rate}:d=4:c=pink:seed=1,aformat=channel_layouts={layout}"
        ffmpeg("-f", "lavfi", "-i", noise, "-af", "volume=0:enable='lt(t,2)'", str(part))
        parts.append(part.read_bytes())
    path = tmp_path / "both.mp3"
    path.write_bytes(b"".join(parts))

    found = find_sound_segments(path, 8.0, silent)

    assert [2.0, 4.0, 6.0, 8.0] == pytest.approx([time for each in found for time in (each.start, each.end)], abs=0.25)


@pytest.mark.long
def test_times_stay_right_after_a_damaged_part(tmp_path: Path) -> None:
    path = tmp_path / "talk.ogg"
    noise = "anoisesrc=r=44100:d=16:c=pink:seed=1,volume=0:enable='between(t,2,4)+between(t,10,12)'"
    ffmpeg("-f", "lavfi", "-i", noise, "-c:a", "libvorbis", str(path))
    data = bytearray(path.read_bytes())
    hole = range(len(data) * 3 // 8, len(data) // 2)
    data[hole.start : hole.stop] = bytes(len(hole))
    path.write_bytes(data)

    found = find_sound_segments(path, 16.0, silent)

    assert (11.9, 16.0) == pytest.approx((found[-1].start, found[-1].end), abs=0.25)


def test_the_longer_a_pause_the_shorter_a_segment_can_be() -> None:
    assert [3.0, 1.5, 1.0, 0.0] == pytest.approx([required_length(pause) for pause in (0.3, 0.7, 1.1, 2.0)])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Héllo “wörld”, naïve café"),
        ("shift_jis", "こんにちは世界。今日は天気がいいですね。"),
        ("cp1251", "Здравствуйте, как ваши дела? Сегодня хорошая погода."),
        ("cp1253", "Καλημέρα, τι κάνεις;"),
        ("utf-16", "Dzień dobry, jak się masz?"),
        ("utf-16-le", "Hello there."),
        ("utf-16-be", "字幕の文字コードを調べる。"),
    ],
)
@pytest.mark.parametrize("suffix", [".srt", ".vtt", ".ass"])
def test_short_subtitles_of_every_encoding_are_read(tmp_path: Path, encoding: str, text: str, suffix: str) -> None:
    path = tmp_path / f"film{suffix}"
    block = f"1\n00:00:01.000 --> 00:00:02.000\n{text}\n"
    line = f"[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{text}\n"
    path.write_bytes((line if suffix == ".ass" else block).encode(encoding))

    assert [Cue(1.0, 2.0, text)] == read_cues(path)
