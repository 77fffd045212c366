"""Write columns that were made here into a Parquet file: for demonstrations and tests, not for private data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

__all__ = ["write_parquet"]


def write_parquet(columns: Mapping[str, NDArray[Any]], file: str | Path) -> None:
    """Write columns of equal length.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet({"age": np.array([30, 40])}, Path(folder) / "ages.parquet")
    ...     (Path(folder) / "ages.parquet").stat().st_size > 0
    True
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.register("made", dict(columns))
        connection.table("made").write_parquet(str(file))
