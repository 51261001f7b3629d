"""Published facts, in text files: fields separated by ``;``, comments after ``#``."""

from pathlib import Path

FOLDER = Path(__file__).parent
SETS = FOLDER.parent.parent / "benchmarks" / "data"


def rows(path: Path, fields: int = 0) -> list[list[str]]:
    """Return the fields of each line; with *fields*, the last one may have semicolons."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line[:1] not in "#"]
    return [[field.strip() for field in line.split(";", fields - 1)] for line in lines]
