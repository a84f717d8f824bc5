"""JSON and Parquet give back exactly what was stored."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pellucid.explanations.store import decode, encode


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4)))
def test_every_float_returns_bit_for_bit(array):
    document = json.dumps(encode(array), allow_nan=False)
    back = decode(json.loads(document))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    same = (back.view(np.int64) == array.view(np.int64)) | (np.isnan(back) & np.isnan(array))
    assert same.all()
    assert not back.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", None, "ü"], dtype=object),
        np.array([1, 2, 2**62]),
        np.array([True, False]),
        np.array(["2024-01-01", "NaT"], dtype="datetime64[us]"),
        np.array([], dtype=object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_other_arrays(array):
    back = decode(json.loads(json.dumps(encode(array))))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text().filter(lambda s: not s.startswith("__")), inner)
    ),
    max_leaves=10,
)


@given(values)
def test_settings_of_any_shape(value):
    assert decode(json.loads(json.dumps(encode(value), allow_nan=False))) == value
