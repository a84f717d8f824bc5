"""A picture in a chart: bytes of colour as PNG, inside the specification, so that nothing is fetched."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from pellucid.arrays import AnyArray

_KINDS = {1: 0, 3: 2, 4: 6}  # PNG's numbers of grey, colour, and colour with transparency


def png(pixels: AnyArray) -> bytes:
    """``(height, width, 1, 3 or 4)`` bytes as a PNG file."""
    height, width, channels = pixels.shape
    lines = np.ascontiguousarray(pixels, dtype=np.uint8).reshape(height, width * channels)
    filtered = np.concatenate([np.zeros((height, 1), dtype=np.uint8), lines], axis=1)  # 0: lines as they are
    header = struct.pack(">IIBBBBB", width, height, 8, _KINDS[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def data_uri(pixels: AnyArray) -> str:
    """The PNG as an address that holds the picture itself."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")
