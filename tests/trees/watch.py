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
