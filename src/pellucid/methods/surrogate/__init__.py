"""Global surrogates: a simple model that stands in for any other, and how far it does."""
