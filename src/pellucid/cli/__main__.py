"""``python -m pellucid.cli``: the same as the command ``pellucid``."""

from pellucid.cli import main

main()
