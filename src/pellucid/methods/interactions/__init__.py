"""How features act together."""
