"""The samples of local models: what they are drawn for, the model's predictions for them, and when to draw more.

As a rule an explanation speaks of the model's own features. They can be others (``space=(to, back)``): ``to`` gives a
table of readable features for rows of the model, ``back`` rows of the model for such a table. Then x' = to(x), samples
z' are drawn and compared in the readable features, and the model is asked about back(z'): words for a model of
embeddings, survey questions for a model of their principal components, or components for a model of many correlated
columns.

Repeats of an explanation that choose other features are a sign of too few samples. With a tolerance the rows whose
`stability` is below 1 - tolerance get twice the samples, at the width chosen first (of more samples a narrower width
would be chosen, that rests on as few of them), and again, until the index holds or there are 16 times as many (4 times
by default). Where it does not hold even then, and the width may be chosen, it is the best of those at which it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, as_frame
from pellucid.errors import InputError
from pellucid.methods.local.surrogate.local_fit import LocalFit, Task, fit_row
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS, Distributions, draw
from pellucid.methods.local.surrogate.options import Options
from pellucid.methods.local.surrogate.representation import Representation, by_feature, entropy_edges, representation
from pellucid.methods.local.surrogate.stability import repeat_counts
from pellucid.models import Predictor
from pellucid.models.predictor import MappedPredictor
from pellucid.runner import Run

Answered = tuple[FloatArray, FloatArray, FloatArray]  # samples as explained, as compared, and their answers
_MOST_CELLS = 10_000_000  # numbers of one sample
Map = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Explained:
    """``predictor``, ``data`` and ``rows`` in the features of the explanation, with the distributions of these;
    ``model``, ``table`` and ``originals`` are the same in the features of the model.
    """

    predictor: Predictor
    data: Data
    rows: Data
    known: Distributions
    model: Predictor
    table: Data
    originals: Data

    @classmethod
    def of(cls, predictor: Predictor, data: Data, rows: Data, maps: tuple[Map, Map] | None, run: Run) -> Explained:
        """Explained in the features of the model, or in those of the maps."""
        if maps is None:
            return cls(predictor, data, rows, Distributions.of(data, run), predictor, data, rows)
        to, back = maps
        readable = Data.of(_mapped(to, data), sample_weight=data.weights)
        seen = readable.rows(_mapped(to, rows))
        mapped = MappedPredictor(predictor, _checked(back, data), readable.frame.kind)
        return cls(mapped, readable, seen, Distributions.learn(readable), predictor, data, rows)

    @property
    def mapped(self) -> bool:
        """Whether the features of the explanation are not those of the model."""
        return self.predictor is not self.model


def maps_of(space: Any) -> tuple[Map, Map] | None:
    """The two maps of a space of other features, None for a space that has none."""
    if not isinstance(space, tuple):
        return None
    if len(space) != 2 or not all(callable(one) for one in space):
        raise InputError(
            "space= as a tuple has two functions: to(table), which gives a table of readable features for rows of X,"
            " and back(table), which gives rows of X for such a table."
        )
    return space[0], space[1]


def _mapped(to: Map, data: Data) -> Any:
    """The readable features of some rows."""
    found = to(data.frame.native)
    n = len(as_frame(found))
    if n != len(data):
        raise InputError(
            f"space= gave {n} rows of readable features for {len(data)} rows; to() returns a table with one row per"
            " row."
        )
    return found


def _checked(back: Map, data: Data) -> Callable[[Any, int], Any]:
    """``back`` as a table in the columns and types of the model's data."""

    def rows_of(table: Any, n: int) -> Any:
        found = back(table)
        try:
            rows = data.like(found, None)
        except InputError as error:
            raise InputError(f"space= has a back() that gives no rows of X: {error}") from error
        if len(rows) != n:
            raise InputError(
                f"space= gave {len(rows)} rows of X for {n} rows of readable features; back() returns a table with one"
                " row per row."
            )
        return rows.frame.native

    return rows_of


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples (as columns of the representation) that serve some rows, and the model's answers.

    A set holds samples as they are explained, as they are compared (the same but for columns of the caller's own) and
    their answers, each in blocks of equal length; ``predictions`` (rows, outputs) are those of the explained rows.
    """

    explained: Explained
    space: Representation
    metric: Representation
    sets: tuple[Answered, ...]
    serves: tuple[IntArray, ...]
    predictions: FloatArray

    @classmethod
    def of(cls, explained: Explained, options: Options, run: Run) -> Samples:
        """The first samples."""
        data, known = explained.data, explained.known
        space = representation(data, known, options.space)
        metric = space if space.own is None else representation(data, known, "raw")
        predictions = run.predict(explained.model, explained.originals)
        blank = cls(explained, space, metric, (), (), predictions)
        samples = blank.more(options.samples, np.arange(len(explained.rows)), options, run, 0)
        if space.own is None:
            ways = by_feature(data, options.space)
            space = entropy_edges(space, ways, samples.sets[0][0], samples.sets[0][2])
            return replace(samples, space=space, metric=space)
        return samples

    def more(self, n: int, rows: IntArray, options: Options, run: Run, start: int) -> Samples:
        """The same with ``n`` further samples, spread over the blocks, for some of the rows."""
        sets: list[Answered] = []
        serves: list[IntArray] = []
        drawn = draw(
            self.explained.known, self.explained.data, self.explained.rows, n, options.sampler, run, start=start
        )
        for k, sample in enumerate(drawn):
            serves.append(sample.rows)
            old = self.sets[k] if self.sets else None
            if old is not None and not np.isin(sample.rows, rows).any():
                sets.append(old)
                continue
            new = self._answered(sample.codes, run)
            sets.append(new if old is None else _joined(old, new))
        return replace(self, sets=tuple(sets), serves=tuple(serves))

    def _answered(self, codes: FloatArray, run: Run) -> Answered:
        """Samples with their answers, which are kept where the samples are: an Explainer asks for them once."""
        predictor, kept = self.explained.predictor, self.explained.known.kept
        plain = self.space.own is None
        before, by, known = kept.get("answers", (None, None, None))
        if plain and before is codes and by is predictor and known is not None:
            return codes, codes, known
        table = self.explained.data.of_codes(codes)
        answers = run.predict(predictor, table)
        if "sample" in kept and kept["sample"][1] is codes and predictor.instability == 0:
            kept["answers"] = codes, predictor, answers
        return codes if plain else self.space.values(table), codes, answers

    def tasks(self, rows: IntArray, options: Options) -> dict[int, Task]:
        """For each of some explained rows its columns, distances and answers."""
        row_values = self.space.values(self.explained.rows)
        row_codes = self.metric.values(self.explained.rows)
        tasks: dict[int, Task] = {}
        for (values, codes, answers), served in zip(self.sets, self.serves, strict=True):
            for i in np.intersect1d(served, rows).tolist():
                x, code = row_values[i], row_codes[i]
                columns = self.space.apart(values, x)
                apart = columns if self.metric is self.space else self.metric.apart(codes, code)
                distance = options.distances(apart, self.metric, code)
                tasks[i] = Task(columns, distance, answers, self.predictions[i])
        return tasks

    @property
    def n(self) -> int:
        """The samples of the row that needed most."""
        return max(len(answers) for _, _, answers in self.sets)


def _joined(old: Answered, new: Answered) -> Answered:
    """Old and new samples block by block."""
    first, second, third = (_in_blocks(a, b) for a, b in zip(old, new, strict=True))
    return first, second, third


def _in_blocks(old: FloatArray, new: FloatArray) -> FloatArray:
    parts = [part.reshape(BLOCKS, len(part) // BLOCKS, -1) for part in (old, new)]
    whole = np.concatenate(parts, axis=1)
    return whole.reshape(-1, whole.shape[2])


def stable_fits(samples: Samples, options: Options, run: Run) -> tuple[Samples, list[LocalFit]]:
    """The local fits of all rows, with as many samples as the tolerance wants."""
    repeats = repeat_counts(BLOCKS, run.generator("lime.repeats"))
    fits: dict[int, LocalFit] = {}
    for i, task in samples.tasks(np.arange(len(samples.explained.rows)), options).items():
        fits[i] = fit_row(task, options, repeats, compare=run.checks)
    rounds, most = 0, _most(samples, options)
    while options.tolerance is not None and (open_ := _unstable(fits, options.tolerance)):
        rows, n = np.array(open_), options.samples << rounds
        if 2 * n > most:
            for i, task in samples.tasks(rows, options).items():
                fits[i] = fit_row(
                    task, options, repeats, compare=run.checks, fixed=fits[i].width, least=1.0 - options.tolerance
                )
            break
        rounds += 1
        with run.until_interrupted() as work:  # what is known is an explanation already
            samples = samples.more(n, rows, options, run, rounds)
        if work.cut:
            break
        for i, task in samples.tasks(rows, options).items():
            fits[i] = fit_row(task, options, repeats, compare=run.checks, fixed=fits[i].width)
    return samples, [fits[i] for i in range(len(fits))]


def _unstable(fits: dict[int, LocalFit], tolerance: float) -> list[int]:
    """The rows whose repeats put more than the tolerance of their weight on other features."""
    return [i for i, one in fits.items() if float(one.stability.min()) < 1.0 - tolerance]


def _most(samples: Samples, options: Options) -> int:
    """The most samples that are drawn."""
    columns = len(samples.metric.names)
    return min(options.growth * options.samples, max(_MOST_CELLS // columns, options.samples))
