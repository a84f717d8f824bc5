"""A watch that counts, for tests of threads, progress and portions."""

from pellucid.runner import Limits


class Watched:
    def __init__(self, threads=1, **limits):
        self.threads, self.limits = threads, Limits(**limits)
        self.planned, self.done, self.closed = 0, 0, 0

    def plan(self, amount):
        self.planned += amount

    def advance(self, amount):
        self.done += amount

    def close(self):
        self.closed += 1


class Interrupted(Watched):
    """A person who presses Ctrl-C as soon as something is done."""

    def advance(self, amount):
        super().advance(amount)
        raise KeyboardInterrupt
