"""What was asked of the model for local models, and when to ask for more.

Repeats of an explanation that choose other features are a sign of too few samples. With a tolerance the rows whose
`stability` is below 1 - tolerance get twice the samples, at the width chosen first (of more samples a narrower width
would be chosen, that rests on as few of them), and again, until the index holds or there are 16 times as many (4 times
by default). Where it does not hold even then, and the width may be chosen, it is the best of those at which it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.local.local_fit import LocalFit, Task, fit_row
from pellucid.methods.local.neighbourhood import BLOCKS, draw
from pellucid.methods.local.options import Options
from pellucid.methods.local.representation import Representation, by_feature, entropy_edges, representation
from pellucid.methods.local.stability import repeat_counts
from pellucid.methods.local.subject import Subject
from pellucid.runner import Run

Answered = tuple[FloatArray, FloatArray, FloatArray]  # samples as explained, as compared, and their answers
_KEY = 67  # of the random generator
_MOST_CELLS = 10_000_000  # numbers of one sample


@dataclass(frozen=True, eq=False)
class Asked:
    """Samples (as columns of the representation) that serve some rows, and the model's answers.

    A set holds samples as they are explained, as they are compared (the same but for columns of the caller's own) and
    their answers, each in blocks of equal length; ``predictions`` (rows, outputs) are those of the explained rows.
    """

    subject: Subject
    space: Representation
    metric: Representation
    sets: tuple[Answered, ...]
    serves: tuple[IntArray, ...]
    predictions: FloatArray

    @classmethod
    def of(cls, subject: Subject, options: Options, run: Run) -> Asked:
        """The first samples."""
        data, known = subject.data, subject.known
        space = representation(data, known, options.space)
        metric = space if space.own is None else representation(data, known, "raw")
        predictions = run.predict(subject.model, subject.originals)
        blank = cls(subject, space, metric, (), (), predictions)
        asked = blank.more(options.samples, np.arange(len(subject.rows)), options, run, 0)
        if space.own is None:
            ways = by_feature(data, options.space)
            space = entropy_edges(space, ways, asked.sets[0][0], asked.sets[0][2])
            return replace(asked, space=space, metric=space)
        return asked

    def more(self, n: int, rows: IntArray, options: Options, run: Run, start: int) -> Asked:
        """The same with ``n`` further samples, spread over the blocks, for some of the rows."""
        sets: list[Answered] = []
        serves: list[IntArray] = []
        drawn = draw(self.subject.known, self.subject.data, self.subject.rows, n, options.sampler, run, start=start)
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
        predictor, kept = self.subject.predictor, self.subject.known.kept
        plain = self.space.own is None
        before, by, known = kept.get("answers", (None, None, None))
        if plain and before is codes and by is predictor and known is not None:
            return codes, codes, known
        table = self.subject.data.of_codes(codes)
        answers = run.predict(predictor, table)
        if "sample" in kept and kept["sample"][1] is codes and predictor.instability == 0:
            kept["answers"] = codes, predictor, answers
        return codes if plain else self.space.values(table), codes, answers

    def tasks(self, rows: IntArray, options: Options) -> dict[int, Task]:
        """For each of some explained rows its columns, distances and answers."""
        row_values = self.space.values(self.subject.rows)
        row_codes = self.metric.values(self.subject.rows)
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


def stable_fits(asked: Asked, options: Options, run: Run) -> tuple[Asked, list[LocalFit]]:
    """The local fits of all rows, with as many samples as the tolerance wants."""
    repeats = repeat_counts(BLOCKS, run.generator(_KEY))
    fits: dict[int, LocalFit] = {}
    for i, task in asked.tasks(np.arange(len(asked.subject.rows)), options).items():
        fits[i] = fit_row(task, options, repeats, compare=run.checks)
    rounds, most = 0, _most(asked, options)
    while options.tolerance is not None and (open_ := _unstable(fits, options.tolerance)):
        rows, n = np.array(open_), options.samples << rounds
        if 2 * n > most:
            for i, task in asked.tasks(rows, options).items():
                fits[i] = fit_row(
                    task, options, repeats, compare=run.checks, fixed=fits[i].width, least=1.0 - options.tolerance
                )
            break
        rounds += 1
        try:
            asked = asked.more(n, rows, options, run, rounds)
        except KeyboardInterrupt:  # what is known is an explanation already
            run.interrupted = True
            break
        for i, task in asked.tasks(rows, options).items():
            fits[i] = fit_row(task, options, repeats, compare=run.checks, fixed=fits[i].width)
    return asked, [fits[i] for i in range(len(fits))]


def _unstable(fits: dict[int, LocalFit], tolerance: float) -> list[int]:
    """The rows whose repeats put more than the tolerance of their weight on other features."""
    return [i for i, one in fits.items() if float(one.stability.min()) < 1.0 - tolerance]


def _most(asked: Asked, options: Options) -> int:
    """The most samples that are drawn."""
    columns = len(asked.metric.names)
    return min(options.growth * options.samples, max(_MOST_CELLS // columns, options.samples))
