"""Tables of results for other programs: Arrow, and the data frames of pandas."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from typing import Any

from cutnode.contract.extras import extra
from cutnode.storage.parquet import pyarrow_modules

MOST_ROWS = 20
"""The most rows that a notebook shows."""


class Tabular(ABC):
    """A table: named columns of equal length.

    Programs that read Arrow, such as polars and DuckDB, accept it directly.
    """

    __slots__ = ()

    @abstractmethod
    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns by name, with None where there is no value."""

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``; :class:`CutnodeError` if pyarrow is not installed."""
        arrow, _ = pyarrow_modules()
        return arrow.table(self.to_columns())

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``; :class:`CutnodeError` if pandas is not installed."""
        return extra("pandas", "pandas", "data frames need").DataFrame(self.to_columns())

    def to_csv(self) -> str:
        """Return the rows as CSV, below a line of column names."""
        columns = self.to_columns()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        count = len(next(iter(columns.values()), ()))
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        rows = [
            "".join(f"<td>{escape('' if v is None else str(v))}</td>" for v in row)
            for row in zip(*(values[:MOST_ROWS] for values in columns.values()), strict=True)
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>{count:,} rows, {MOST_ROWS} shown</p>" if count > MOST_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


@dataclass(frozen=True, slots=True)
class Rows(Tabular):
    """A table of rows, each a dictionary of values by column; a row may lack some columns."""

    rows: list[dict[str, Any]]

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns in the order of their first appearance in the rows."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: [row.get(name) for row in self.rows] for name in names}
