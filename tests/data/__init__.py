"""Published facts, in text files: fields separated by ``;``, comments after ``#``."""

from pathlib import Path

FOLDER = Path(__file__).parent
SETS = FOLDER.parent.parent / "benchmarks" / "data"


def rows(path: Path) -> list[list[str]]:
    """The fields of each line."""
    lines = path.read_text().splitlines()
    return [[field.strip() for field in line.split(";")] for line in lines if line[:1] not in "#"]
