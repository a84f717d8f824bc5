"""The curvature of a network's loss over its training rows, by products with vectors, and what follows from it for
rows.

With J the derivatives of the outputs by the parameters theta and B those of the loss by the outputs, twice, the
generalised Gauss-Newton matrix of the mean loss is G = mean_i w_i J_i' B_i J_i: the Hessian without its indefinite
part. A product with it takes one forward and one backward pass, and (G + damping) x = v is solved by conjugate
gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.models.torch import evaluating, forward, tensor, to_numpy

_STEPS, _CLOSE = 200, 1e-6
_DRAWN = 10
_LEAST = 1e-7  # of a probability


@dataclass(frozen=True, eq=False)
class Curvature:
    """Of a module in double precision, of ``probability`` outputs by the log loss, of others by the squared loss."""

    module: Any
    x: Any
    y: Any
    w: Any
    probability: bool
    damping: float

    @classmethod
    def of(
        cls, module: Any, table: AnyArray, y: AnyArray, w: FloatArray, *, probability: bool, damping: float, seed: int
    ) -> Curvature:
        """``damping`` is a share of the mean eigenvalue, which random products estimate."""
        from copy import deepcopy

        import torch

        twin = deepcopy(module).double().cpu().eval()
        target = torch.as_tensor(np.asarray(y, dtype=np.int64 if probability else np.float64))
        start = cls(twin, tensor(twin, table), target, torch.as_tensor(w / w.sum()), probability, 0.0)
        drawn = torch.Generator().manual_seed(seed)
        sizes = []
        for _ in range(_DRAWN):
            v = [torch.randn(part.shape, generator=drawn, dtype=part.dtype) for part in start.theta.values()]
            sizes.append(float(_dot(v, start.product(v)) / _dot(v, v)))
        return cls(twin, start.x, target, start.w, probability, damping * float(np.mean(sizes)))

    @property
    def theta(self) -> dict[str, Any]:
        return {name: part.detach() for name, part in self.module.named_parameters() if part.requires_grad}

    def _outputs(self, x: Any) -> Any:
        """A function of the parameters, as tuples, to the outputs of some rows."""
        from torch.func import functional_call

        names = list(self.theta)
        return lambda *parts: functional_call(self.module, dict(zip(names, parts, strict=True)), (x,)).reshape(
            len(x), -1
        )

    def product(self, v: list[Any]) -> list[Any]:
        """(G + damping) v."""
        from torch.func import jvp, vjp

        f, theta = self._outputs(self.x), tuple(self.theta.values())
        out, along = jvp(f, theta, tuple(v))
        bent = self.w[:, None] * self._second(out) * along
        _, back = vjp(f, *theta)
        return [g + self.damping * part for g, part in zip(back(bent), v, strict=True)]

    def _second(self, out: Any) -> Any:
        """Second derivatives of each row's loss by its own outputs, on the diagonal."""
        import torch

        if not self.probability:
            return torch.ones_like(out)
        p = out.clamp(_LEAST, 1 - _LEAST)
        return 1 / (p * (1 - p)) if out.shape[1] == 1 else 1 / p  # expected ones: E of 1 / p^2 where the class is true

    def _losses(self, out: Any) -> Any:
        import torch

        if not self.probability:
            return 0.5 * torch.square(self.y.reshape(out.shape) - out).sum(dim=1)
        if out.shape[1] == 1:
            p = out[:, 0].clamp(_LEAST, 1 - _LEAST)
            return -torch.where(self.y == 1, p.log(), (1 - p).log())
        return -out.clamp(_LEAST, 1).gather(1, self.y[:, None])[:, 0].log()

    def influence(self, table: AnyArray) -> FloatArray:
        """Outputs with minus without each row, to first order: ``(training rows, rows, outputs)``."""
        import torch
        from torch.func import jvp, vjp

        f, at = self._outputs(self.x), self._outputs(tensor(self.module, table))
        theta = tuple(self.theta.values())
        out, back = vjp(at, *theta)
        found = np.empty((len(self.x), *out.shape))
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                one = torch.zeros_like(out)
                one[i, k] = 1.0
                v = self.solved(list(back(one)))
                _, along = jvp(lambda *parts: self._losses(f(*parts)), theta, tuple(v))
                found[:, i, k] = -to_numpy(self.w * along)
        return found

    def solved(self, v: list[Any]) -> list[Any]:
        """(G + damping)^-1 v by conjugate gradients."""
        x = [part * 0 for part in v]
        rest, step = list(v), list(v)
        size = first = float(_dot(v, v))
        for _ in range(_STEPS):
            if size <= _CLOSE**2 * first or first == 0:
                break
            bent = self.product(step)
            a = size / float(_dot(step, bent))
            x = [one + a * other for one, other in zip(x, step, strict=True)]
            rest = [one - a * other for one, other in zip(rest, bent, strict=True)]
            size, before = float(_dot(rest, rest)), size
            step = [one + size / before * other for one, other in zip(rest, step, strict=True)]
        return x

    def predict(self, table: AnyArray) -> FloatArray:
        """The module's outputs."""
        import torch

        with evaluating(self.module), torch.no_grad():
            return to_numpy(forward(self.module, tensor(self.module, table)).reshape(len(table), -1))


def _dot(a: list[Any], b: list[Any]) -> Any:
    return sum((one * other).sum() for one, other in zip(a, b, strict=True))
