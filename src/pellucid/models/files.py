"""Models from files. Only formats that hold data are opened; a file that runs code needs the user's trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pellucid.errors import InputError, PellucidError, nearest, require
from pellucid.models import onnx
from pellucid.models.adapter import Adapter
from pellucid.models.trusted import trusted_types

_CODE = (".pkl", ".pickle", ".joblib")


def adapt(path: str | Path) -> Adapter:
    """A model given by the name of its file."""
    from pellucid.models.registry import adapt as adapt_any

    if Path(path).suffix.lower() == ".onnx":
        return onnx.adapt(path)
    return adapt_any(load_model(path))


def load_model(path: str | Path, *, trust: bool = False) -> Any:
    """The model in a file: skops, ONNX, XGBoost (json, ubj), LightGBM (txt) or CatBoost (cbm).

    A pickle or joblib file runs code when it is opened: it is refused unless ``trust=True``. An ONNX file
    is checked and given back as its path, which `Predictor` takes.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _READERS and ending not in _CODE:
        known = nearest(ending, (*_READERS, *_CODE)) if ending else "; " + ", ".join(_READERS) + " are known."
        raise InputError(f"{str(path)!r} does not end like a model file{known}")
    if not path.is_file():
        raise InputError(f"there is no model file {str(path)!r}; check the path.")
    if ending in _CODE and not trust:
        raise InputError(
            f"{str(path)!r} runs code when it is opened; pass --trust (trust=True) if you trust its origin, or save the"
            " model with skops."
        )
    read, what = _READERS.get(ending, (_read_code, "pickled"))
    try:
        return read(path)
    except PellucidError:
        raise
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")[:200]
        raise InputError(
            f"{str(path)!r} is no {what} model that can be read ({type(error).__name__}: {first}); check that it is the"
            " file the model was saved to."
        ) from error


def _read_skops(path: Path) -> Any:
    skops = require("skops.io", extra="skops", purpose="a skops file")
    trusted = trusted_types()
    strangers = sorted(set(skops.get_untrusted_types(file=path)) - trusted)
    if strangers:
        raise InputError(
            f"{str(path)!r} holds the type {strangers[0]!r}, which pellucid does not open from a file; if you trust its"
            " origin, save the model with joblib and pass --trust (trust=True)."
        )
    return skops.load(path, trusted=sorted(trusted))


def _read_onnx(path: Path) -> Path:
    onnx.adapt(path)
    return path


def _read_xgboost(path: Path) -> Any:
    xgboost = require("xgboost", extra="xgboost", purpose="an XGBoost file")
    return xgboost.Booster(model_file=str(path))


def _read_lightgbm(path: Path) -> Any:
    lightgbm = require("lightgbm", extra="lightgbm", purpose="a LightGBM file")
    with path.open("rb") as file:
        if file.readline().strip() != b"tree":  # LightGBM would print to the terminal before it fails
            raise InputError(f"{str(path)!r} is no LightGBM model; save one with booster.save_model(path).")
    return lightgbm.Booster(model_file=str(path))


def _read_catboost(path: Path) -> Any:
    catboost = require("catboost", extra="catboost", purpose="a CatBoost file")
    return catboost.CatBoost().load_model(str(path))


def _read_code(path: Path) -> Any:
    """Only reached with the user's trust."""
    import joblib

    return joblib.load(path)


_READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    ".skops": (_read_skops, "skops"),
    ".onnx": (_read_onnx, "ONNX"),
    ".json": (_read_xgboost, "XGBoost"),
    ".ubj": (_read_xgboost, "XGBoost"),
    ".txt": (_read_lightgbm, "LightGBM"),
    ".cbm": (_read_catboost, "CatBoost"),
}
