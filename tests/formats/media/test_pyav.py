from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import av.error
import pytest

from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.libraries.pyav import CAUSES, library, open_media
from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported
from tests.formats.media.media_samples import write_video


def test_every_exception_class_of_the_library_is_mapped() -> None:
    classes = {
        each.__name__
        for _, each in inspect.getmembers(av.error, inspect.isclass)
        if issubclass(each, av.error.FFmpegError)
    }

    assert classes == set(CAUSES)


def test_the_library_is_not_imported_before_it_is_used() -> None:
    code = (
        "import sys, citekit.adapters.formats.media.probe, citekit.adapters.formats.media.evidence.clip,"
        " citekit.adapters.formats.media.outline.outliner;"
        " sys.exit(bool({'av', 'PIL', 'numpy', 'ffmpeg', 'imageio_ffmpeg'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False)

    assert done.returncode == 0


def test_a_playlist_opens_no_other_file(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", seconds=1)
    playlists = {
        "list.m3u8": f"#EXTM3U\n#EXTINF:1,\n{film}\n#EXT-X-ENDLIST\n",
        "list.ffconcat": f"ffconcat version 1.0\nfile '{film}'\n",
        "list.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n",
        "list.mpd": f"<?xml version='1.0'?><MPD><Period><BaseURL>{film}</BaseURL></Period></MPD>",
    }
    for name, text in playlists.items():
        path = tmp_path / name
        path.write_text(text)

        with pytest.raises(SourceUnsupported), open_media(path):
            pass


@pytest.mark.parametrize("name", ["http:example.mp4", "odd %d name.mp4", "ümläut.mp4", "-i.mp4"])
def test_a_file_name_is_never_interpreted_as_a_url(tmp_path: Path, name: str) -> None:
    path = write_video(tmp_path / "plain.mp4", seconds=0.2, audio=None).rename(tmp_path / name)

    with open_media(path) as container:
        assert 1 == len(container.streams.video)


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable), open_media(tmp_path / "none.mp4"):
        pass


def test_citekit_errors_pass_through(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=0.2, audio=None)

    with pytest.raises(CiteKitError, match="mine"), open_media(path):
        raise SourceUnreadable("mine")


def test_a_damaged_file_writes_no_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_video(tmp_path / "film.mp4", seconds=2)
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 2000] = bytes(2000)
    path.write_bytes(data)

    with open_media(path) as container:
        for packet in container.demux():
            try:
                packet.decode()
            except library().error.FFmpegError:
                continue

    assert ("", "") == tuple(capfd.readouterr())


def test_a_track_of_an_unknown_codec_does_not_hide_the_others(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", seconds=1)
    path.write_bytes(path.read_bytes().replace(b"avc1", b"z1z9"))

    facts = PyAvProbe().probe(path)

    assert facts.video_codec is None
    assert ["The file has 1 stream of an unknown codec, which is left out."] == list(facts.remarks)
    assert "aac" == facts.audio_codec


def test_a_recording_cut_off_before_its_sound_is_damaged_and_not_forbidden(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.m4a", tmp_path / "cut.m4a"
    options = {"movflags": "empty_moov+frag_keyframe+delay_moov"}
    with av.open(str(whole), "w", format="ipod", options=options) as container:
        stream = container.add_stream("aac", rate=16_000, layout="mono")
        for number in range(20):
            frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
            frame.planes[0].update(bytes(4096))
            frame.sample_rate, frame.pts = 16_000, 1024 * number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    content = whole.read_bytes()
    cut.write_bytes(content[: content.index(b"moof") - 4])

    with pytest.raises(SourceUnsupported, match=r"cut\.m4a is not a playable video or audio file, or is damaged\.$"):
        PyAvProbe().probe(cut)
