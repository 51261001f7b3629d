"""Arrow and its Parquet files, which need pyarrow."""

from __future__ import annotations

from typing import Any

from engine.contract.errors import CutnodeError

__all__ = ["pyarrow_modules"]


def pyarrow_modules(otherwise: str = "") -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``; :class:`CutnodeError` if they are not there.

    *otherwise* is what the error says one can do without them.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CutnodeError(
            f"Arrow and Parquet need pyarrow: pip install 'cutnode[parquet]'{otherwise}"
        ) from None
    return pyarrow, pyarrow.parquet
