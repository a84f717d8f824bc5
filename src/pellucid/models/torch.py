"""PyTorch modules on tables of numbers, with exact gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import InputError
from pellucid.models.adapter import Adapter


def adapt(model: Any) -> Adapter:
    """The module's own output, in evaluation mode, on its own device and in its own precision."""
    import torch

    if not isinstance(model, torch.nn.Module):
        raise InputError(f"model is a {type(model).__name__} of torch; give the torch.nn.Module itself.")
    last = list(model.modules())[-1]
    probability = isinstance(last, torch.nn.Sigmoid | torch.nn.Softmax)
    return Adapter(
        library="torch",
        name=type(model).__name__,
        predict=lambda table: _predict(model, table),
        task="scores" if probability else "regression",
        scale="probability" if probability else "response",
        container=lambda _kind: "numpy",
        gradient=lambda table: _gradient(model, table),
    )


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode while asking, whatever mode the user left the module in."""
    training = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in training.items():
            module.training = mode


def _tensor(model: Any, table: AnyArray) -> Any:
    import torch

    if table.dtype == object:
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "a torch module takes numbers only; encode text and category columns, or wrap the encoding and the module in one function."
            ) from None
    parameter = next(model.parameters(), None)
    dtype = torch.float32 if parameter is None else parameter.dtype
    device = "cpu" if parameter is None else parameter.device
    return torch.tensor(np.ascontiguousarray(table), dtype=dtype, device=device)


def _predict(model: Any, table: AnyArray) -> AnyArray:
    import torch

    with _evaluating(model), torch.no_grad():
        out: AnyArray = model(_tensor(model, table)).detach().cpu().numpy()
    return out


def _gradient(model: Any, table: AnyArray) -> AnyArray:
    """Partial derivatives (rows, features, outputs) by one backward pass per output."""
    import torch

    with _evaluating(model):
        x = _tensor(model, table).requires_grad_(True)
        out = model(x)
        out = out.reshape(len(table), -1)
        columns = [
            torch.autograd.grad(out[:, k].sum(), x, retain_graph=True)[0] for k in range(out.shape[1])
        ]
    return np.asarray(torch.stack(columns, dim=-1).detach().cpu().numpy())
