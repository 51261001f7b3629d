"""``python -m engine`` is the command ``cutnode``."""

from engine.cli.start import main

if __name__ == "__main__":  # a process of a match imports this file as well
    main()
