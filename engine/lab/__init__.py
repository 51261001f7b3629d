"""The pruning laboratory: what each technique of the search saves, measured.

Each experiment is a module with one function that returns a :class:`Study`, a table of
figures with all that is needed to repeat it.
"""

from engine.lab.study import Column, Study

__all__ = ["Column", "Study"]
