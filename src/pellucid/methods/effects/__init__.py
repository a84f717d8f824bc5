"""How predictions change with one or two features."""
