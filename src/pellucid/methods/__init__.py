"""The methods: pure functions from a Predictor and a Data to a frozen Explanation."""
