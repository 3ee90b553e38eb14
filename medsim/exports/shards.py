"""Files of bounded size with the rows of one configuration and split."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ROWS = 1_000_000
"""The most rows of a file."""


def shards(config: str, split: str, n_rows: int) -> Iterator[tuple[str, int, int]]:
    """Yield the path of each file, its first row and the one after its last.

    Files are named as on Hugging Face's hub. There is none where there are no rows, since
    ``load_dataset`` takes no split without rows.
    """
    n_files = -(-n_rows // MOST_ROWS)
    for number in range(n_files):
        begin = number * MOST_ROWS
        path = f"{config}/{split}-{number:05d}-of-{n_files:05d}.parquet"
        yield path, begin, min(begin + MOST_ROWS, n_rows)
