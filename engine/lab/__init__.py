"""The laboratory: measurements of what each technique of the search saves.

Each experiment is a module with one function that returns a :class:`Study`, a table of
figures with all that is needed to repeat it.
"""

from engine.lab.study import Column, Study

__all__ = ["Column", "Study"]
