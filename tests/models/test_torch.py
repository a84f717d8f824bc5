"""PyTorch modules: evaluation mode, precision, exact gradients."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from models.asking import as_columns, predictions, swept
from pellucid.data import Data
from pellucid.errors import InputError, ModelError
from pellucid.models import Predictor
from pellucid.runner import Run

torch = pytest.importorskip("torch", reason="torch is optional")
nn = torch.nn


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


def own(module, X) -> np.ndarray:
    """What the user's own evaluation loop would compute."""
    module.eval()
    with torch.no_grad():
        return module(torch.tensor(X.to_numpy(dtype=np.float64), dtype=torch.float32)).numpy()


def network(outputs: int = 1, *tail):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, outputs), *tail)


def test_predictions_and_interventions(X):
    module = network()
    predictor = Predictor(module, X)
    assert (predictor.library, predictor.output_names, predictor.instability) == ("torch", ("prediction",), 0.0)
    np.testing.assert_array_equal(predictions(predictor, X), own(module, X))
    np.testing.assert_array_equal(swept(predictor, X, "day", 2), own(module, X.assign(day=2)))
    np.testing.assert_array_equal(swept(predictor, X, "open", True), own(module, X.assign(open=True)))


def test_training_flags_are_given_back_module_by_module(X):
    module = network()
    module.train()
    module[1].eval()  # a frozen layer inside a module in training
    statistics = module[1].running_mean.clone()
    Run().predict(Predictor(module, X), Data.of(X, container="numpy"))
    assert [part.training for part in module.modules()] == [True, True, False, True, True]
    assert torch.equal(module[1].running_mean, statistics)


def test_threads_never_meet_a_module_in_training(X):
    """While one thread leaves, another may still be asking: dropout must stay off for it."""
    module = network()
    expected = own(module, X)
    module.train()
    predictor = Predictor(module, X)
    matrix = Data.of(X, container="numpy").frame.native
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: predictor(matrix, len(X)), range(200)))
    assert module.training
    assert all(np.allclose(answer, expected, rtol=0, atol=1e-6) for answer in answers)


class Quadratic(nn.Module):
    """f1 = 2 a^2 + 3 b, f2 = a b: derivatives (4a, b) and (3, a); c is not used."""

    def forward(self, x):
        a, b = x[:, 0], x[:, 1]
        return torch.stack([2 * a**2 + 3 * b, a * b], dim=1)


def test_gradients_are_those_of_the_formula():
    table = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    predictor = Predictor(Quadratic(), table)
    assert predictor.output_names == ("output 0", "output 1")
    a, b = table[:, 0], table[:, 1]
    exact = np.zeros((20, 3, 2))
    exact[:, 0, 0], exact[:, 1, 0] = 4 * a, 3.0
    exact[:, 0, 1], exact[:, 1, 1] = b, a
    np.testing.assert_allclose(predictor.gradient(table, 20), exact, rtol=1e-6)
    only = Predictor(Quadratic(), table, output="output 1")
    np.testing.assert_allclose(only.gradient(table, 20), exact[:, :, 1:], rtol=1e-6)


class Half(nn.Module):
    """One probability, by hand."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([1.0, -2.0], dtype=torch.float64))
        self.squash = nn.Sigmoid()

    def forward(self, x):
        return self.squash(x @ self.slope)


def test_sigmoid_is_the_probability_of_the_second_class():
    table = np.random.default_rng(1).normal(size=(30, 2))
    labels = np.where(table[:, 0] > 0, "yes", "no")
    p = 1 / (1 + np.exp(-(table @ [1.0, -2.0])))
    predictor = Predictor(Half(), table, labels=labels)
    assert (predictor.output_names, predictor.scale) == (("yes",), "probability")
    np.testing.assert_allclose(predictor(table, 30)[:, 0], p, rtol=1e-14)  # float64 weights: float64 answers
    other = Predictor(Half(), table, labels=labels, output="no")
    np.testing.assert_allclose(other(table, 30)[:, 0], 1 - p, rtol=1e-12)
    slope = (p * (1 - p))[:, None] * np.array([1.0, -2.0])
    np.testing.assert_allclose(predictor.gradient(table, 30)[:, :, 0], slope, rtol=1e-12)
    np.testing.assert_allclose(other.gradient(table, 30)[:, :, 0], -slope, rtol=1e-12)
    logit = Predictor(Half(), table, link="logit")
    np.testing.assert_allclose(logit(table, 30)[:, 0], table @ [1.0, -2.0], rtol=1e-9)


def test_softmax_classes(X, level):
    module = network(3, nn.Softmax(dim=1))
    predictor = Predictor(module, X, labels=level)
    assert predictor.output_names == ("low", "mid", "top")
    np.testing.assert_array_equal(predictions(predictor, X), own(module, X))


def test_bfloat16_weights(X):
    module = nn.Linear(3, 1).to(torch.bfloat16)
    with torch.no_grad():
        expected = module(torch.tensor(X.to_numpy(dtype=float), dtype=torch.bfloat16)).double().numpy()
    np.testing.assert_array_equal(predictions(Predictor(module, X), X), as_columns(expected))


def test_text_columns_are_refused_with_a_remedy(mixed):
    with pytest.raises(InputError, match=r"encode those columns"):
        Predictor(nn.Linear(5, 1), mixed)


def test_missing_values_reach_the_module_and_are_reported(mixed):
    with pytest.raises(ModelError, match=r"nan for row 0 .*impute"):
        Predictor(nn.Linear(2, 1), mixed[["temp", "day"]])


class Pair(nn.Module):
    def forward(self, x):
        return x, x


def test_a_module_must_return_one_tensor(X):
    with pytest.raises(ModelError, match="Pair returned a tuple"):
        Predictor(Pair(), X)


def test_a_tensor_is_no_model(X):
    with pytest.raises(InputError, match=r"Tensor of torch, .*torch\.nn\.Module"):
        Predictor(torch.zeros(3), X)
