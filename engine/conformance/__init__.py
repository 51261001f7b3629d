"""Checks that a game follows the contract: random play, and a function for each property.

:func:`check` is what ``cutnode check`` runs.
"""

from engine.conformance.findings import Finding
from engine.conformance.runner import check

__all__ = ["Finding", "check"]
