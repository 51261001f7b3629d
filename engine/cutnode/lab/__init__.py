"""The laboratory: experiments that measure what each search technique saves.

Each experiment is a module with one function that returns a :class:`Study`: a table of
figures, with everything needed to repeat the experiment.
"""

from cutnode.lab.files import read_study, write_study
from cutnode.lab.study import Column, Follower, Study, repeat

__all__ = ["Column", "Follower", "Study", "read_study", "repeat", "write_study"]
