"""Models of rules: short trees, sums of rules, lists of rules."""
