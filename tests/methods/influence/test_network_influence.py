"""Influence functions of networks: exact where the network is a linear model at its optimum, else beside refits."""

import numpy as np
import pytest

import pellucid

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


def table(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=n)


def fitted(X, y, last=(), loss=torch.nn.functional.mse_loss, hidden=(), steps=20):
    """A network by quasi-Newton steps from a fixed start."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*hidden, torch.nn.Linear(3 if not hidden else 4, 1), *last).double()
    x, target = torch.tensor(X), torch.tensor(np.asarray(y, dtype=float))[:, None]
    best = torch.optim.LBFGS(model.parameters(), max_iter=steps, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def step():
        best.zero_grad()
        value = loss(model(x), target)
        value.backward()
        return value

    best.step(step)
    return model.eval()


def test_a_linear_network_has_the_influence_of_least_squares():
    X, y = table()
    model = fitted(X, y, steps=100)
    found = pellucid.Explainer(model, X, y, progress=False).influence([0, 5], method="function", refit=fitted)
    A = np.column_stack([np.ones(80), X])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    H = A.T @ A / 80
    damped = np.linalg.solve(H + found.settings["damping"] * np.eye(4), A.T)
    np.testing.assert_allclose(found.values, (damped.T @ A[[0, 5]].T) * residual[:, None] / 80, atol=1e-5)
    assert found.how == "influence function"
    assert found.checked.correlation > 0.99
    assert found.checked.jolt_rows == 3


def test_a_sigmoid_has_that_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, z = table(120)
    y = (z + np.random.default_rng(1).normal(size=120) > 0).astype(int)

    def fit(X, y):
        return fitted(X, y, (torch.nn.Sigmoid(),), torch.nn.functional.binary_cross_entropy, steps=200)

    found = pellucid.Explainer(fit(X, y), X, y, progress=False).influence([0, 1], method="function", refit=fit)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    exact = pellucid.Explainer(other, X, y, progress=False).influence([0, 1])
    shown = found.values.reshape(120, -1)[:, :2]
    assert np.corrcoef(shown.ravel(), exact.values.ravel())[0, 1] > 0.99


def test_a_network_is_shown_beside_its_refits(golden):
    from golden_files import masked

    X, y = table(40)

    def fit(X, y):
        torch.manual_seed(1)
        return fitted(X, y, hidden=(torch.nn.Linear(3, 4), torch.nn.Tanh()), steps=30)

    found = pellucid.Explainer(fit(X, y), X, y, progress=False).influence(0, method="function", refit=fit)
    assert np.isfinite(found.checked.correlation)
    assert found.settings["damping"] > 0
    golden("influence", "network", masked("\n".join(found.findings())))


def test_what_is_refused():
    X, y = table(30)
    ex = pellucid.Explainer(fitted(X, y), X, y, progress=False)
    with pytest.raises(pellucid.InputError, match="give refit="):
        ex.influence(0, method="function")
    with pytest.raises(pellucid.InputError, match="single rows"):
        ex.influence(method="function", on="parameters", refit=fitted)
