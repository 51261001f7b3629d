"""Checks that a game follows the contract: random play, and a function for each property.

:func:`examine` is what ``cutnode check`` runs, and :func:`check` gives its findings.
"""

from cutnode.conformance.findings import Finding
from cutnode.conformance.runner import Report, check, examine
from cutnode.conformance.summary import Summary

__all__ = ["Finding", "Report", "Summary", "check", "examine"]
