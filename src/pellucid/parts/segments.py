"""An image cut into segments (superpixels), and the image in which every segment is absent.

Segmenters: "grid" (rectangles), or scikit-image's "slic", "quickshift" and "felzenszwalb", whose small segments are put
together with their most similar neighbours until there are no more than asked for; or labels of the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import one_of
from pellucid.errors import InputError, require

SEGMENTERS = ("slic", "quickshift", "felzenszwalb", "grid")
ABSENT = ("grey", "mean", "neighbours", "blur")
_RING = 3  # pixels round a segment whose mean colour stands for it
_BLUR = 1 / 16  # of the longer side: the standard deviation of the blur

Segmenter = str | Callable[[AnyArray], Any] | AnyArray
Absent = str | float | tuple[float, ...] | AnyArray


def check_image(image: Any) -> AnyArray:
    """A copy of the image: ``(height, width)`` or ``(height, width, channels)``, numbers without NaN."""
    array = np.array(image)
    if array.ndim == 3 and array.shape[2] > 4 >= array.shape[0]:
        raise InputError(
            f"the image has shape {array.shape}; if these are {array.shape[0]} images, give a list of them,"
            " list(images); if it is one with channels first, give it with channels last, np.moveaxis(image, 0, -1),"
            " and let the function move them back."
        )
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] > 4) or not array.size:
        raise InputError(
            f"the image has shape {array.shape}; give (height, width) or (height, width, channels) with at most 4"
            " channels, and several images as a list, list(images)."
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"the image holds {array.dtype}, not numbers; give an array of numbers.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0][:2]
        raise InputError(
            f"the image is not finite at row {row}, column {column}; replace NaN and infinite pixels first."
        )
    return array


def value_range(image: AnyArray) -> tuple[float, float]:
    """What black and white are: 0 and 255 for bytes, 0 and 1 for fractions, else the image's own extremes."""
    if image.dtype == np.uint8:
        return 0.0, 255.0
    low, high = float(image.min()), float(image.max())
    return (0.0, 1.0) if image.dtype.kind in "fb" and low >= 0 and high <= 1 else (low, high)


def colours(image: AnyArray) -> int:
    """How many channels are colours: the last of two or four is transparency."""
    channels = 1 if image.ndim == 2 else image.shape[2]
    return channels - 1 if channels in (2, 4) else channels


# -- segments ----------------------------------------------------------------------------------------


def segment(image: AnyArray, segmenter: Segmenter, segments: int | tuple[int, int]) -> IntArray:
    """Labels ``(height, width)`` from 0 on, without gaps."""
    if isinstance(segmenter, str):
        if one_of("segmenter", segmenter, SEGMENTERS) == "grid":
            return _grid(image.shape[0], image.shape[1], segments)
        if not isinstance(segments, int):
            raise InputError(
                f"segments={segments!r} are rows and columns, which only segmenter='grid' has; give one number."
            )
        return _superpixels(image, segmenter, segments)
    labels = np.asarray(segmenter(image.copy()) if callable(segmenter) else segmenter)
    if labels.shape != image.shape[:2] or labels.dtype.kind not in "biu":
        raise InputError(
            f"the segmenter gives labels of shape {labels.shape} and type {labels.dtype}; give one whole number per"
            f" pixel, {image.shape[:2]}."
        )
    return _numbered(labels)


def _numbered(labels: AnyArray) -> IntArray:
    _, numbers = np.unique(labels, return_inverse=True)
    return numbers.reshape(labels.shape).astype(np.intp)


def _grid(height: int, width: int, segments: int | tuple[int, int]) -> IntArray:
    """Rectangles, as square as the number allows."""
    if isinstance(segments, tuple):
        rows, columns = segments
    else:
        rows = round(np.sqrt(segments * height / width))
        rows = min(max(rows, 1), segments)
        columns = round(segments / rows)
    rows, columns = min(rows, height), min(max(columns, 1), width)
    down, across = np.arange(height) * rows // height, np.arange(width) * columns // width
    return np.asarray(down[:, None] * columns + across[None, :], dtype=np.intp)


def _superpixels(image: AnyArray, segmenter: str, segments: int) -> IntArray:
    purpose = f"segmenter={segmenter!r} (segmenter='grid' needs nothing)"
    library = require("skimage.segmentation", extra="images", purpose=purpose)
    plain = _plain(image)
    pixels = plain.shape[0] * plain.shape[1]
    if segmenter == "slic":
        labels = library.slic(plain, n_segments=segments, compactness=10, start_label=0, channel_axis=-1)
    elif segmenter == "quickshift":
        labels = library.quickshift(plain, kernel_size=4, max_dist=20, ratio=0.4, rng=0)
    else:
        labels = library.felzenszwalb(plain, scale=50, min_size=max(1, pixels // (10 * segments)), channel_axis=-1)
    return _merged(_numbered(labels), plain, segments)


def _plain(image: AnyArray) -> FloatArray:
    """The colours as three channels from 0 to 1."""
    low, high = value_range(image)
    plain = (image.astype(np.float64) - low) / ((high - low) or 1.0)
    plain = plain[..., None] if plain.ndim == 2 else plain[..., : colours(image)]
    return np.ascontiguousarray(np.repeat(plain, 3, axis=2) if plain.shape[2] == 1 else plain)


def _merged(labels: IntArray, plain: FloatArray, most: int) -> IntArray:
    """The smallest segment joins the most similar of its neighbours until there are at most ``most``."""
    n = int(labels.max()) + 1
    size = np.bincount(labels.ravel(), minlength=n).astype(np.float64)
    total = np.stack([np.bincount(labels.ravel(), channel.ravel(), n) for channel in np.moveaxis(plain, 2, 0)], 1)
    neighbours = _neighbours(labels, n)
    home = np.arange(n)
    left = n
    while left > most:
        small = int(np.argmin(np.where(size > 0, size, np.inf)))
        others = np.array(sorted(neighbours[small]))
        away = np.abs(total[others] / size[others, None] - total[small] / size[small]).sum(axis=1)
        other = int(others[np.argmin(away)])
        size[other] += size[small]
        total[other] += total[small]
        for k in neighbours[small]:
            neighbours[k].discard(small)
            if k != other:
                neighbours[k].add(other)
                neighbours[other].add(k)
        home[home == small] = other
        size[small], neighbours[small] = 0.0, set()
        left -= 1
    return _numbered(home[labels])


def _neighbours(labels: IntArray, n: int) -> list[set[int]]:
    """Which segments touch."""
    found: list[set[int]] = [set() for _ in range(n)]
    for one, other in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        for a, b in np.unique(np.stack([one[one != other], other[one != other]], axis=1), axis=0).tolist():
            found[a].add(b)
            found[b].add(a)
    return found


# -- absence -----------------------------------------------------------------------------------------


def absent_image(image: AnyArray, labels: IntArray, absent: Absent) -> AnyArray:
    """The image in which every segment is absent; transparency stays as it is."""
    if isinstance(absent, str):
        one_of("absent", absent, ABSENT)
    n = colours(image)
    stacked = image[..., None] if image.ndim == 2 else image
    shown = stacked[..., :n].astype(np.float64)
    low, high = value_range(image)
    grey = np.full(n, (low + high) / 2)
    if isinstance(absent, str):
        makers: dict[str, Callable[[], FloatArray]] = {
            "grey": lambda: np.broadcast_to(grey, shown.shape),
            "mean": lambda: _means(shown, labels)[labels],
            "neighbours": lambda: _ring_means(shown, labels, grey)[labels],
            "blur": lambda: _blurred(shown),
        }
        colour = makers[absent]()
    else:
        colour = _given(absent, image, shown)
    filled = stacked.copy()
    filled[..., :n] = _as_type(colour, image.dtype)
    return filled.reshape(image.shape)


def _as_type(colour: FloatArray, dtype: np.dtype[Any]) -> AnyArray:
    if dtype.kind == "b":
        return np.asarray(colour >= 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        colour = np.clip(np.rint(colour), info.min, info.max)
    return np.asarray(colour.astype(dtype))


def _given(absent: Any, image: AnyArray, shown: FloatArray) -> FloatArray:
    """A colour (one number, or one per colour channel) or a whole image of the caller's."""
    given = np.asarray(absent)
    n = shown.shape[2]
    if given.dtype.kind not in "biuf" or (given.dtype.kind == "f" and not np.isfinite(given).all()):
        raise InputError(
            f"absent={absent!r} is no colour; give one of {', '.join(ABSENT)}, a number, a colour or an image."
        )
    if given.shape == image.shape and given.ndim > 1:
        return np.asarray(given.reshape(*image.shape[:2], -1)[..., :n], dtype=np.float64)
    if given.ndim == 0 or given.shape == (n,):
        return np.broadcast_to(given.astype(np.float64), shown.shape)
    raise InputError(
        f"absent has shape {given.shape}; give one number, a colour of {n} numbers, or an image of shape {image.shape}."
    )


def _means(shown: FloatArray, labels: IntArray) -> FloatArray:
    """The mean colour of each segment."""
    sizes = np.bincount(labels.ravel())
    sums = [np.bincount(labels.ravel(), shown[..., c].ravel()) for c in range(shown.shape[2])]
    return np.asarray(np.stack(sums, axis=1) / sizes[:, None])


def _ring_means(shown: FloatArray, labels: IntArray, grey: FloatArray) -> FloatArray:
    """The mean colour of the pixels that surround each segment; grey for one that fills the image."""
    from scipy.ndimage import binary_dilation, find_objects

    found = np.tile(grey, (int(labels.max()) + 1, 1))
    for k, box in enumerate(find_objects(labels + 1)):
        window = tuple(slice(max(side.start - _RING, 0), side.stop + _RING) for side in box or ())
        inside = labels[window] == k
        ring = binary_dilation(inside, iterations=_RING) & ~inside
        if ring.any():
            found[k] = shown[window][ring].mean(axis=0)
    return found


def _blurred(shown: FloatArray) -> FloatArray:
    from scipy.ndimage import gaussian_filter

    sigma = max(shown.shape[:2]) * _BLUR
    return np.asarray(gaussian_filter(shown, sigma=(sigma, sigma, 0), mode="nearest"))


def absent_name(absent: Absent, image: AnyArray) -> str:
    """The name of what stands in place of an absent segment: that of the option, "image" or "colour"."""
    if isinstance(absent, str):
        return absent
    given = np.asarray(absent)
    return "image" if given.ndim > 1 and given.shape == image.shape else "colour"


def plain_colours(image: AnyArray, absent: str) -> dict[str, Absent]:
    """Colours in which nothing is to be seen, other than ``absent``: grey, the darkest and the lightest."""
    low, high = value_range(image)
    plain: dict[str, Absent] = {"'grey'": "grey", f"{low:g}": low, f"{high:g}": high}
    return {name: colour for name, colour in plain.items() if colour != absent}
