"""The number that CatBoost knows a category by: the low half of CityHash64 (version 1) of its text.

CatBoost keeps no text of the categories, so the codes of a user's values are found by hashing them again.
All arithmetic is modulo 2^64; words are little-endian.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_K0, _K1, _K2, _K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_MIX = 0x9DDFEA08EB382D69


def category_hash(text: bytes) -> int:
    """The signed 32-bit number that stands for a category in CatBoost's model files."""
    low = city_hash_64(text) & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def city_hash_64(text: bytes) -> int:
    """CityHash64, version 1."""
    if len(text) <= 16:
        return _up_to_16(text)
    if len(text) <= 32:
        return _up_to_32(text)
    return _up_to_64(text) if len(text) <= 64 else _longer(text)


def _word(text: bytes, at: int, size: int = 8) -> int:
    at = at if at >= 0 else len(text) + at
    return int.from_bytes(text[at : at + size], "little")


def _rotated(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by) | (value << (64 - by)) & _MASK


def _folded(value: int) -> int:
    value &= _MASK
    return value ^ (value >> 47)


def _pair(u: int, v: int) -> int:
    """Two words to one."""
    v &= _MASK
    a = _folded(((u & _MASK) ^ v) * _MIX)
    return _folded((v ^ a) * _MIX) * _MIX & _MASK


def _up_to_16(text: bytes) -> int:
    n = len(text)
    if n > 8:
        last = _word(text, -8)
        return _pair(_word(text, 0), _rotated(last + n, n)) ^ last
    if n >= 4:
        return _pair(n + (_word(text, 0, 4) << 3), _word(text, -4, 4))
    if n > 0:
        y = text[0] + (text[n // 2] << 8)
        z = n + (text[-1] << 2)
        return _folded((y * _K2 & _MASK) ^ (z * _K3 & _MASK)) * _K2 & _MASK
    return _K2


def _up_to_32(text: bytes) -> int:
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, -8) * _K2, _word(text, -16) * _K0
    return _pair(_rotated(a - b, 43) + _rotated(c, 30) + d, a + _rotated(b ^ _K3, 20) - c + len(text))


def _up_to_64(text: bytes) -> int:
    first = _word(text, 0) + (len(text) + _word(text, -16)) * _K0
    v0, v1 = _quarter(first, _word(text, 8), _word(text, 16), _word(text, 24))
    second = _word(text, 16) + _word(text, -32)
    w0, w1 = _quarter(second, _word(text, -24), _word(text, -16), _word(text, -8))
    return _folded(_folded((v0 + w1) * _K2 + (w0 + v1) * _K0) * _K0 + v1) * _K2 & _MASK


def _quarter(a: int, p: int, q: int, z: int) -> tuple[int, int]:
    b, c = _rotated(a + z, 52), _rotated(a, 37)
    c += _rotated(a + p, 7)
    a += p + q
    return a + z, b + _rotated(a, 31) + c


def _seeded(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two words that stand for 32 bytes and two seeds."""
    w, x, y, z = (_word(text, at + 8 * k) for k in range(4))
    a += w
    b = _rotated(b + a + z, 21)
    total = a + x + y
    return (total + z) & _MASK, (b + _rotated(total, 44) + a) & _MASK


def _longer(text: bytes) -> int:
    n = len(text)
    x, y, z = _word(text, 0), _word(text, -16) ^ _K1, _word(text, -56) ^ _K0
    v = _seeded(text, n - 64, n, y)
    w = _seeded(text, n - 32, n * _K1, _K0)
    z += _folded(v[1]) * _K1
    x, y = _rotated(z + x, 39) * _K1, _rotated(y, 33) * _K1
    for at in range(0, (n - 1) // 64 * 64, 64):
        x = _rotated(x + y + v[0] + _word(text, at + 16), 37) * _K1 & _MASK
        y = _rotated(y + v[1] + _word(text, at + 48), 42) * _K1 & _MASK
        x, y = x ^ w[1], y ^ v[0]
        z = _rotated((z & _MASK) ^ w[0], 33)
        v = _seeded(text, at, v[1] * _K1, x + w[0])
        w = _seeded(text, at + 32, z + w[1], y)
        x, z = z, x
    return _pair(_pair(v[0], w[0]) + _folded(y) * _K1 + z, _pair(v[1], w[1]) + x)
