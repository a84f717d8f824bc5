"""Pictures as PNG: those inside a specification, so that nothing is fetched, and charts in few bytes."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from pellucid.arrays import AnyArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE = 256
_KINDS = {1: 0, 3: 2, 4: 6}  # PNG's numbers of grey, colour, and colour with transparency


def png(pixels: AnyArray) -> bytes:
    """``(height, width, 1, 3 or 4)`` bytes as a PNG file."""
    height, width, channels = pixels.shape
    lines = np.ascontiguousarray(pixels, dtype=np.uint8).reshape(height, width * channels)
    return _file(lines, width, _KINDS[channels])


def _file(lines: AnyArray, width: int, kind: int, palette: bytes = b"") -> bytes:
    filtered = np.concatenate([np.zeros((len(lines), 1), dtype=np.uint8), lines], axis=1)  # 0: lines as they are
    header = struct.pack(">IIBBBBB", width, len(lines), 8, kind, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(name, content) for name, content in chunks if content or name == b"IEND")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def data_uri(pixels: AnyArray) -> str:
    """The PNG as an address that holds the picture itself."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


# -- the same picture in fewer bytes -----------------------------------------------------------------


def smaller(picture: bytes) -> bytes:
    """An opaque picture with at most 256 colours, those nearest to its own: an eye hardly sees the difference.

    What is not written as charts are (8 bits, colour with transparency, lines as differences) stays as it is.
    """
    pixels = _read(picture)
    if pixels is None:
        return picture
    colours = pixels.astype(np.uint32)
    packed = (colours[..., 0] << 16) | (colours[..., 1] << 8) | colours[..., 2]
    distinct, where, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = _leading(distinct, counts)
    nearest = _nearest(_channels(distinct), _channels(kept))
    palette = _channels(kept).astype(np.uint8).tobytes()
    return _file(nearest[where].reshape(packed.shape).astype(np.uint8), packed.shape[1], 3, palette)


def _leading(colours: AnyArray, counts: AnyArray) -> AnyArray:
    """The most frequent colour of each of the most frequent hues: thin lines keep theirs beside large areas."""
    if len(colours) <= _PALETTE:
        return colours
    hues = colours & 0xF8F8F8
    order = np.lexsort((-counts, hues))
    _, first, group = np.unique(hues[order], return_index=True, return_inverse=True)
    sizes = np.bincount(group, weights=counts[order])
    return np.asarray(colours[order[first[np.argsort(-sizes, kind="stable")[:_PALETTE]]]])


def _nearest(colours: AnyArray, kept: AnyArray) -> AnyArray:
    """For each colour the place of the nearest that is kept."""
    places = np.empty(len(colours), dtype=np.intp)
    for start in range(0, len(colours), 4096):
        away = colours[start : start + 4096, None, :] - kept[None, :, :]
        places[start : start + 4096] = np.argmin((away**2).sum(axis=2), axis=1)
    return places


def _channels(packed: AnyArray) -> AnyArray:
    return np.stack([packed >> 16, packed >> 8 & 0xFF, packed & 0xFF], axis=-1).astype(np.int32)


def _read(picture: bytes) -> AnyArray | None:
    """The bytes of colour ``(height, width, 3)`` of an opaque picture."""
    chunks: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at < len(picture):
        size, name = struct.unpack(">I4s", picture[at : at + 8])
        chunks[name] = chunks.get(name, b"") + picture[at + 8 : at + 8 + size]
        at += 12 + size
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if (bits, kind, interlaced) != (8, _KINDS[4], 0):
        return None
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + 4 * width)
    if (lines[:, 0] > 1).any():
        return None
    pixels = lines[:, 1:].reshape(height, width, 4)
    # A line of sort 1 holds the difference of each pixel from the one before it, as bytes that wrap around.
    pixels = np.where((lines[:, 0] == 1)[:, None, None], np.cumsum(pixels, axis=1, dtype=np.uint8), pixels)
    return None if (pixels[..., 3] < 255).any() else pixels[..., :3]
