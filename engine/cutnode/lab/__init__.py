"""The laboratory: measurements of what each technique of the search saves.

Each experiment is a module with one function that returns a :class:`Study`, a table of
figures with all that is needed to repeat it.
"""

from cutnode.lab.files import read_study, write_study
from cutnode.lab.study import Column, Follower, Study, repeat

__all__ = ["Column", "Follower", "Study", "read_study", "repeat", "write_study"]
