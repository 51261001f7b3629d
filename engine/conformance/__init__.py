"""Checks that a game follows the contract: random play, and a function for each property.

:func:`examine` is what ``cutnode check`` runs, and :func:`check` gives its findings.
"""

from engine.conformance.findings import Finding
from engine.conformance.runner import Report, check, examine
from engine.conformance.summary import Summary

__all__ = ["Finding", "Report", "Summary", "check", "examine"]
