"""Checks that a game follows the contract, by random play and a function for each property.

``cutnode check`` runs :func:`examine`; :func:`check` returns only its findings.
"""

from cutnode.conformance.findings import Finding
from cutnode.conformance.runner import Report, check, examine
from cutnode.conformance.summary import Summary

__all__ = ["Finding", "Report", "Summary", "check", "examine"]
