"""How long a recording is, from the headers of its format."""

from collections.abc import Callable, Iterator, Mapping
from struct import error as struct_error
from struct import unpack_from

# Of audio that has no header: 16 bits of one channel, 24,000 times a second (OpenAI's ``pcm16``).
_PCM16_BYTES_PER_SECOND = 48_000
_ID3_HEADER = 10
# Bits per second of a frame in thousands, by the index in its header: MPEG 1 layer III, then 2.
_MP3_KBITS = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
)
# Samples per second by the index in a frame's header, of MPEG 1; by how many bits those of the
# version 2.5 (0), of none, of 2 and of 1 (3) are shifted.
_MP3_RATES = (44_100, 48_000, 32_000, 0)
_MP3_SHIFTS = (2, 0, 1, 0)
_MPEG_1, _NO_MPEG = 3, 1
_LAYER_3 = 1
_MP3_SYNC = 0x7FF
_OPUS_RATE = 48_000


def recording_seconds(data: bytes, media_type: str) -> float:
    """Return the length of a recording in seconds, 0 where nothing tells it.

    WAV, MP3, Ogg with Opus or Vorbis, FLAC and what is stored as MP4 are understood.
    """
    if media_type.endswith("pcm16"):
        return len(data) / _PCM16_BYTES_PER_SECOND
    read = next((read for magic, read in _FORMATS.items() if data.startswith(magic)), None)
    if read is None:
        read = _mp4 if data[4:8] == b"ftyp" else _mp3
    try:
        return max(0.0, read(data))
    except (struct_error, IndexError, ValueError, ZeroDivisionError):
        return 0.0


def _wav(data: bytes) -> float:
    at, per_second = 12, 0
    while at + 8 <= len(data):
        name, size = unpack_from("<4sI", data, at)
        at += 8
        if name == b"fmt ":
            (per_second,) = unpack_from("<I", data, at + 8)
        elif name == b"data":
            # What was written while it was recorded may have no size.
            return float(min(size or len(data), len(data) - at) / per_second)
        at += size + size % 2
    return 0.0


def _mp3(data: bytes) -> float:
    return sum(_mp3_frames(data))


def _mp3_frames(data: bytes) -> Iterator[float]:
    """Yield the length of each frame, up to the first bytes that are none."""
    at = 0
    if data.startswith(b"ID3"):
        high, upper, lower, low = data[6:10]
        at = _ID3_HEADER + (high << 21 | upper << 14 | lower << 7 | low)
    while at + 4 <= len(data):
        (header,) = unpack_from(">I", data, at)
        version, layer = header >> 19 & 3, header >> 17 & 3
        is_frame = header >> 21 == _MP3_SYNC and version != _NO_MPEG and layer == _LAYER_3
        rate = _MP3_RATES[header >> 10 & 3] >> _MP3_SHIFTS[version]
        kbits = _MP3_KBITS[version != _MPEG_1][header >> 12 & 15]
        if not (is_frame and rate and kbits):
            return
        samples = 1_152 if version == _MPEG_1 else 576
        at += samples // 8 * kbits * 1_000 // rate + (header >> 9 & 1)
        yield samples / rate


def _ogg(data: bytes) -> float:
    page = data.rfind(b"OggS")
    (position,) = unpack_from("<q", data, page + 6)
    opus = data.find(b"OpusHead", 0, 256)
    if opus >= 0:
        (skipped,) = unpack_from("<H", data, opus + 10)
        return float((position - skipped) / _OPUS_RATE)
    (rate,) = unpack_from("<I", data, data.index(b"\x01vorbis", 0, 256) + 12)
    return float(position / rate)


def _flac(data: bytes) -> float:
    # 20 bits of the rate, 8 of other things, 36 of how many samples there are.
    (packed,) = unpack_from(">Q", data, 18)
    return float((packed & 0xF_FFFF_FFFF) / (packed >> 44))


def _mp4(data: bytes) -> float:
    header = data.index(b"mvhd") + 4
    at, form = (header + 20, ">IQ") if data[header] else (header + 12, ">II")
    scale, length = unpack_from(form, data, at)
    return float(length / scale)


_FORMATS: Mapping[bytes, Callable[[bytes], float]] = {
    b"RIFF": _wav,
    b"OggS": _ogg,
    b"fLaC": _flac,
}
