"""Settings whose truth is known, to see how often an interval covers it. `benchmarks/intervals.py` counts."""
