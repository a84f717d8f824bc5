"""PyTorch modules on tables of numbers, with exact gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import ModelError
from pellucid.models.adapter import Adapter, no_model, numbers_only
from pellucid.words import kind_of

_EVERYTHING = ("pandas", "polars", "arrow", "records", "sparse")


def adapt(model: Any) -> Adapter:
    """The module's own output, in evaluation mode, on its own device and in its own precision."""
    import torch

    if not isinstance(model, torch.nn.Module):
        raise no_model(model, "torch", "the torch.nn.Module itself")
    last = list(model.modules())[-1]
    probability = isinstance(last, torch.nn.Sigmoid | torch.nn.Softmax)
    return Adapter(
        library="torch",
        name=type(model).__name__,
        predict=partial(_predict, model),
        task="scores" if probability else "regression",
        scale="probability" if probability else "response",
        containers=dict.fromkeys(_EVERYTHING, ("numpy",)),
        gradient=partial(_gradient, model),
        opaque=True,
    )


_door = Lock()
_inside: dict[int, tuple[int, list[bool]]] = {}  # visitors of a module, and the modes it will go back to


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode while asking, whatever mode the user left the module in.

    Threads may ask the same module together: the first one in notes the modes, the last one out restores
    them, so that nobody is asked in training mode.
    """
    modules = list(model.modules())
    with _door:
        visitors, modes = _inside.get(id(model), (0, [module.training for module in modules]))
        _inside[id(model)] = (visitors + 1, modes)
        model.eval()
    try:
        yield
    finally:
        with _door:
            visitors, modes = _inside.pop(id(model))
            if visitors > 1:
                _inside[id(model)] = (visitors - 1, modes)
            else:
                for module, mode in zip(modules, modes, strict=True):
                    module.training = mode


def tensor(model: Any, table: AnyArray) -> Any:
    """The table in the module's own precision, on its device."""
    import torch

    parameter = next((some for some in model.parameters() if some.is_floating_point()), None)
    dtype = torch.float32 if parameter is None else parameter.dtype
    device = "cpu" if parameter is None else parameter.device
    return torch.tensor(numbers_only(table, "torch module"), dtype=dtype, device=device)


def forward(model: Any, x: Any) -> Any:
    """What the module returns, which has to be one tensor."""
    import torch

    out = model(x)
    if not isinstance(out, torch.Tensor):
        raise ModelError(
            f"the model {type(model).__name__} returned {kind_of(out)}, not a tensor; wrap it in a function"
            " that returns one tensor."
        )
    return out


def _predict(model: Any, table: AnyArray) -> AnyArray:
    import torch

    with evaluating(model), torch.no_grad():
        return to_numpy(forward(model, tensor(model, table)))


def to_numpy(tensor: Any) -> AnyArray:
    """float64 holds every torch precision exactly; numpy has no bfloat16."""
    return np.asarray(tensor.detach().cpu().double().numpy())


def _gradient(model: Any, table: AnyArray) -> AnyArray:
    """Partial derivatives (rows, features, outputs) by one backward pass per output."""
    import torch

    with evaluating(model), torch.enable_grad():
        x = tensor(model, table).requires_grad_(True)
        out = forward(model, x).reshape(len(table), -1)
        columns = [
            torch.autograd.grad(out[:, k].sum(), x, retain_graph=True, allow_unused=True, materialize_grads=True)[0]
            for k in range(out.shape[1])
        ]
    return to_numpy(torch.stack(columns, dim=-1))
