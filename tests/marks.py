"""Marks that several test files share."""

import pytest

from cutnode.compiler.jit import jit_enabled

compiled_only = pytest.mark.skipif(not jit_enabled(), reason="needs compiled code, or its speed")

LONG = [pytest.mark.slow, pytest.mark.long]
"""The marks of a test that takes long."""
