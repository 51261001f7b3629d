"""``python -m cutnode`` is the command ``cutnode``."""

import importlib

import cutnode as cutnode  # it finds the engine

if __name__ == "__main__":  # a process of a match imports this file as well
    importlib.import_module("engine.cli.start").main()
