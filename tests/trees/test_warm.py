"""What `pellucid warm` compiles is all that Shapley values and nearest counterfactuals of trees need."""

import numpy as np
from typer.testing import CliRunner

from pellucid.cli.app import app
from pellucid.trees.engine import TreeGame
from pellucid.trees.kernels import drawn_coalitions, lattice, leaf_boxes, marginal, nearest, path
from pellucid.trees.warm import _example, warm


def compiled():
    """How many versions of each kernel there are."""
    kernels = [
        function
        for module in (drawn_coalitions, lattice, leaf_boxes, marginal, nearest, path)
        for function in vars(module).values()
        if hasattr(function, "signatures")
    ]
    return {function.py_func.__qualname__: len(function.signatures) for function in kernels}


def test_afterwards_nothing_is_compiled():
    assert len(list(warm())) == 5
    before = compiled()
    assert min(before[name] for name in ("search", "divide", "read_tables", "path_shapley")) > 0
    trees, rows = _example()
    many = np.repeat(rows, 100, axis=0)
    for game in (TreeGame(trees, "path"), TreeGame(trees, "marginal", many)):
        found = game.attribute(many, interactions="shapley")
        assert np.allclose(found.values[:, :, 0].sum(axis=1) + found.base[0], trees.predict(many)[:, 0])
    assert compiled() == before


def test_the_command_says_what_it_does():
    said = CliRunner().invoke(app, ["warm"])
    assert said.exit_code == 0
    assert said.output.count("Compiling") == 5
