"""Arrow and Parquet, which need pyarrow."""

from __future__ import annotations

from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra


def pyarrow_modules(otherwise: str = "") -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``; :class:`CutnodeError` if they are not installed.

    *otherwise* is appended to that error, to say what can be done without them.
    """
    try:
        parquet = extra("pyarrow.parquet", "parquet", "Arrow and Parquet need")
    except CutnodeError as error:
        raise CutnodeError(f"{error}{otherwise}") from None
    return extra("pyarrow", "parquet", "Arrow needs"), parquet
