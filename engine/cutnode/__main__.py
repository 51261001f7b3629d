"""``python -m cutnode`` is the command ``cutnode``."""

from cutnode.cli.start import main

if __name__ == "__main__":  # a process of a match imports this file as well
    main()
