"""``python -m engine`` is the command ``cutnode``."""

from engine.cli import main

main()
