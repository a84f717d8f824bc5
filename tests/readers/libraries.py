"""Each library's own files, raw predictions and contributions: what the reading is compared with."""

from pathlib import Path
from typing import Any

import cases
import numpy as np

# How far a sum may be off, as a share of the largest number: of libraries that add up singles, and of those that do not.
SINGLE, DOUBLE = 1e-6, 1e-9
WIDTH = {"xgboost": SINGLE, "onnx": SINGLE}
ENDING = {"xgboost": "ubj", "lightgbm": "txt", "catboost": "cbm", "scikit-learn": "skops", "onnx": "onnx"}


def save(library: str, model: Any, path: Path) -> None:
    if library == "scikit-learn":
        import skops.io

        skops.io.dump(model, path)
    elif library == "onnx":
        from skl2onnx import to_onnx

        options = {"zipmap": False} if hasattr(model, "classes_") else None
        path.write_bytes(to_onnx(model, np.zeros((1, 4), np.float32), options=options).SerializeToString())
    else:
        model.save_model(str(path))


def opens(path: Path) -> bool:
    """Whether skops opens a file, where every type in it is trusted."""
    import skops.io

    try:
        skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    except Exception:
        return False
    return True


def raw(library: str, model: Any, X: Any) -> np.ndarray:
    """The library's own sums, or what it predicts where it keeps its sums to itself; a column for each output."""
    if library == "xgboost":
        found = model.predict(_matrix(X), output_margin=True)
    elif library == "lightgbm":
        found = model.predict(X, raw_score=True) / _averaged(model)
    elif library == "catboost":
        found = model.predict(X, prediction_type="RawFormulaVal")
    elif library == "onnx":
        return _of_onnx(model, X)
    else:
        own = next(verb for verb in ("decision_function", "predict_proba", "predict") if hasattr(model, verb))
        found = getattr(model, own)(X)
    return np.asarray(found, dtype=np.float64).reshape(len(X), -1)


def contributions(library: str, model: Any, X: Any) -> np.ndarray | None:
    """``(rows, features + 1, outputs)`` as the library itself has them, the base last.

    None where it has none, or where they do not add up to its own predictions (CatBoost's, unless trees are symmetric).
    """
    found = _contributions(library, model, X)
    own = raw(library, model, X)
    adds_up = found is not None and np.allclose(found.sum(axis=1), own, atol=1e-4 * np.abs(own).max())
    return found if adds_up else None


def _contributions(library: str, model: Any, X: Any) -> np.ndarray | None:
    if library == "xgboost":
        found = model.predict(_matrix(X), pred_contribs=True)
        return _outputs_last(found)
    if library == "lightgbm":
        found = np.asarray(model.predict(X, pred_contrib=True)).reshape(len(X), -1, X.shape[1] + 1)
        return np.moveaxis(found, 1, 2) / _averaged(model)
    if library == "catboost":
        import catboost

        names = [3] if hasattr(X, "columns") else None
        pool = catboost.Pool(X, cat_features=names)
        return _outputs_last(model.get_feature_importance(pool, type="ShapValues", thread_count=1))
    return None


def _averaged(model: Any) -> int:
    """LightGBM adds up the trees of a forest where it is asked for raw scores, and takes their mean to predict."""
    return model.current_iteration() if "\naverage_output\n" in model.model_to_string() else 1


def _outputs_last(found: Any) -> np.ndarray:
    found = np.asarray(found, dtype=np.float64)
    return found[:, :, None] if found.ndim == 2 else np.moveaxis(found, 1, 2)


def _matrix(X: Any) -> Any:
    import xgboost

    return xgboost.DMatrix(X, enable_categorical=True, nthread=1)


def _of_onnx(path: Any, X: Any) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: np.asarray(X, np.float32)})[-1]
    return np.asarray(found, dtype=np.float64).reshape(len(X), -1)


def shown(library: str, case_sort: str) -> tuple[np.ndarray, Any]:
    """Some rows as numbers, and as the table that the model is asked with."""
    X = cases.numbers(case_sort)[: cases.SHOWN]
    return X, cases.table(X, case_sort, words=library == "catboost")
