"""How predictions change with one, two or three features."""
