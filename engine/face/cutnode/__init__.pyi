"""The public names of cutnode: those of the package ``engine``."""

from engine import *  # noqa: F403

__version__: str
