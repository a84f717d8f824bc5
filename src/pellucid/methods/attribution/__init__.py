"""Why this prediction: contributions of the features of a row."""
