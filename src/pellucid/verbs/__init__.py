"""The verbs of an Explainer, one file per kind of question."""
