"""A watch that counts, for tests of threads and progress."""


class TwoThreads:
    threads = 2

    def __init__(self):
        self.planned, self.done, self.closed = 0, 0, 0

    def plan(self, amount):
        self.planned += amount

    def advance(self, amount):
        self.done += amount

    def close(self):
        self.closed += 1


class Interrupted(TwoThreads):
    """A person who presses Ctrl-C as soon as something is done."""

    def __init__(self, threads):
        super().__init__()
        self.threads = threads

    def advance(self, amount):
        super().advance(amount)
        raise KeyboardInterrupt
