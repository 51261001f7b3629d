"""The command ``cutnode``, as ``python -m cutnode``."""

from cutnode.cli.start import main

if __name__ == "__main__":  # the processes of a match import this file as well
    main()
