"""Studies in files: written in the form that a file's name ends in, and read back.

JSON, JSON lines and pages have all of a study, and are read by :func:`read_study`.  A file of JSON
lines grows while the study is measured (:class:`Journal`): one that is stopped keeps what it has,
and can go on.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.lab.page import page, study_in_page
from cutnode.lab.plots import PLOTS, check_plot, write_plot
from cutnode.lab.study import INTERRUPTED, Draw, Follower, Study, drawing_of, plain
from cutnode.lab.tables import latex_table, markdown_table
from cutnode.storage.files import check_file, write_whole
from cutnode.storage.parquet import pyarrow_modules

GZIP = b"\x1f\x8b"


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of studies."""
    schema: dict[str, Any] = json.loads(Path(__file__).with_name("study.schema.json").read_bytes())
    return schema


# Writing


def json_text(study: Study) -> str:
    """Return a study as a JSON object in a line; :func:`study_schema` describes it."""
    return json.dumps(study.to_dict()) + "\n"


def json_lines(study: Study) -> str:
    """Return a study as JSON lines: its header, samples, rows and notes.

    One that was not stopped has an end.
    """
    lines = [_line("study", study.header())]
    lines += [_line("sample", sample) for sample in study.samples]
    lines += [_line("row", row) for row in study.rows]
    lines += [_line("note", note) for note in study.notes]
    return "".join(lines if study.stopped else [*lines, _line("end", study.run)])


def _line(kind: str, value: Any) -> str:
    return json.dumps({kind: plain(value)}) + "\n"


TEXTS: dict[str, Callable[[Study], str]] = {
    ".csv": Study.to_csv,
    ".json": json_text,
    ".jsonl": json_lines,
    ".md": markdown_table,
    ".tex": latex_table,
}
"""The forms that are texts, by the endings of files."""

TABLES = (".csv", ".md", ".tex")
"""The endings of tables, which may have some of the columns."""

OUT = (*TEXTS, ".parquet", ".html", *(f".{kind}" for kind in PLOTS))
"""The endings of files that a study can be written to."""

SAMPLES = (".csv", ".jsonl", ".parquet")
"""The endings of files that samples can be written to."""


def check_out(path: str) -> None:
    """Check that a study can be written to a file, before anything is measured."""
    suffix = _suffix(path, OUT)
    if suffix[1:] in PLOTS:
        check_plot(path)
    if suffix == ".parquet":
        pyarrow_modules()
    check_file(path)


def check_samples(path: str) -> None:
    """Check that samples can be written to a file, before anything is measured."""
    if _suffix(path, SAMPLES) == ".parquet":
        pyarrow_modules()
    check_file(path)


def write_study(study: Study, path: str, draw: Draw | None = None) -> None:
    """Write a study to a file, in the form that its name ends in: one of :data:`OUT`.

    *draw* is what draws its plot, if that is not of one of the experiments.
    """
    suffix = _suffix(path, OUT)
    draw = draw or drawing_of(study)
    if suffix[1:] in PLOTS:
        if draw is None:
            raise CutnodeError(f"{path} cannot be written: studies of {study.name!r} have no plot")
        write_plot(study, draw, path)
    elif suffix == ".parquet":
        _write_parquet(study.to_columns(), path, {"cutnode_study": json.dumps(study.header())})
    else:
        text = page(study, draw) if suffix == ".html" else TEXTS[suffix](study)
        write_whole(path, text.encode())


def write_samples(study: Study, path: str) -> None:
    """Write the samples of a study to a file, in the form of its ending."""
    suffix = _suffix(path, SAMPLES)
    table = study.sample_table()
    if suffix == ".parquet":
        _write_parquet(table.to_columns(), path, {"cutnode_study": json.dumps(study.header())})
    elif suffix == ".jsonl":
        write_whole(path, "".join(json.dumps(plain(row)) + "\n" for row in table.rows).encode())
    else:
        write_whole(path, table.to_csv().encode())


def _suffix(path: str, known: tuple[str, ...]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise CutnodeError(f"{path} cannot be written: it has to end in {', '.join(known)}")
    return suffix


def _write_parquet(columns: dict[str, list[Any]], path: str, about: dict[str, str]) -> None:
    """Write columns with facts about them; a column of mixed kinds becomes one of texts."""
    arrow, parquet = pyarrow_modules()

    def array(values: list[Any]) -> Any:
        try:
            return arrow.array(plain(values))
        except (arrow.ArrowInvalid, arrow.ArrowTypeError):
            return arrow.array([None if value is None else str(value) for value in values])

    table = arrow.table({name: array(values) for name, values in columns.items()})
    out = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(about), out)
    write_whole(path, out.getvalue().to_pybytes())


# Reading


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study from a file of JSON or JSON lines, or from a page.

    :class:`CutnodeError` if it has none, or a damaged one.  A file of a study that was stopped
    gives what was measured, and a note that says so.
    """
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data.startswith(GZIP) else data).decode()
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise CutnodeError(f"{path} cannot be read: it is cut off or damaged") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} cannot be read: it is not a text") from None
    try:
        return Study.from_dict(_data(text))
    except CutnodeError as error:
        raise CutnodeError(f"{path} cannot be read: {error}") from None


def _data(text: str) -> Any:
    """Return the plain data of a study, in whichever form it is."""
    if text.lstrip().startswith("<"):
        return study_in_page(text)
    first, _, rest = text.partition("\n")
    header = _json(first)
    if isinstance(header, dict) and isinstance(header.get("study"), dict):
        return _data_of_lines(header["study"], rest.splitlines())
    data = _json(text)
    if data is None:
        raise CutnodeError("it is neither JSON nor a page of cutnode's laboratory, or is cut off")
    return data


def _json(text: str) -> Any:
    """Return the value of a text of JSON, None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _data_of_lines(header: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    """Return the plain data of a file of JSON lines; a last line that is cut off does not count."""
    data: dict[str, Any] = header | {"rows": [], "notes": [], "samples": []}
    kinds = {"row": "rows", "note": "notes", "sample": "samples"}
    ended = False
    for number, line in enumerate(lines, 2):
        item = _json(line)
        if item is None and number == len(lines) + 1:
            break
        kind, value = next(iter(item.items())) if isinstance(item, dict) and item else ("", None)
        if kind == "end":
            ended = True
            data["run"] = value
        elif kind in kinds:
            data[kinds[kind]].append(value)
        else:
            raise CutnodeError(f"line {number} is damaged")
    if not ended and INTERRUPTED not in data["notes"]:
        data["notes"].append(INTERRUPTED)
    return data


def extract_files(study: Study, folder: str) -> list[str]:
    """Write the code that a study names into a folder, and return the paths.

    Relative paths stay what they are, so that the study is measured again from that folder.
    :class:`CutnodeError` if there is no code, or if a file is there already.
    """
    texts = {
        Path(folder, _inside(path)): about["text"]
        for path, about in study.files.items()
        if isinstance(about, dict) and isinstance(about.get("text"), str)
    }
    if not texts:
        raise CutnodeError("the study names no files of code")
    check_file(Path(folder, "file"))
    for path in texts:
        if path.exists():
            raise CutnodeError(f"{path} cannot be written: it exists")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    return list(map(str, texts))


def _inside(path: str) -> Path:
    """Return a path that does not lead out of the folder that it is put into."""
    given = Path(path)
    return Path(given.name) if given.is_absolute() or ".." in given.parts else given


# While it is measured


class Journal(Follower):
    """Keeps a study in a file of JSON lines while it is measured.

    *resume* goes on with what the file has of a study that was stopped.  Without it such a file
    is not written over.  :class:`CutnodeError` if it is the file of another study.
    """

    def __init__(self, path: str, resume: bool = False):
        self.path = path
        self.earlier: list[dict[str, Any]] = []
        self.known: dict[tuple[str, ...], dict[tuple[Any, ...], dict[str, Any]]] = {}
        self.before = read_study(path) if resume and Path(path).exists() else None
        if not resume and _is_unfinished(path):
            raise CutnodeError(
                f"{path} has a study that was stopped: go on with it by --resume, or remove it"
            )

    def begin(self, study: Study) -> None:
        """Write the header; what an earlier run measured stays."""
        if self.before is not None:
            self.earlier = _samples_to_resume(self.path, self.before, study)
        lines = [_line("study", study.header())]
        lines += [_line("sample", sample) for sample in self.earlier]
        lines += [_line("note", note) for note in study.notes]
        write_whole(self.path, "".join(lines).encode())
        if self.before is not None:
            study.add_note(
                f"Resumed: {len(self.earlier):,} samples are of an earlier run, started "
                f"{self.before.run.get('started', '?')}."
            )

    def row(self, row: dict[str, Any]) -> None:
        self._write("row", row)

    def sample(self, sample: dict[str, Any]) -> None:
        self._write("sample", sample)

    def note(self, note: str) -> None:
        self._write("note", note)

    def recall(self, key: dict[str, Any]) -> dict[str, Any] | None:
        names = tuple(key)
        if names not in self.known:
            self.known[names] = {
                tuple(sample.get(name) for name in names): sample for sample in self.earlier
            }
        return self.known[names].get(tuple(key.values()))

    def _write(self, kind: str, value: Any) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(_line(kind, value))


def _is_unfinished(path: str) -> bool:
    """Return whether a file has a study that was stopped."""
    try:
        return read_study(path).stopped
    except CutnodeError:
        return False


def _samples_to_resume(path: str, before: Study, study: Study) -> list[dict[str, Any]]:
    """Return the samples of a study that was stopped, if *study* is the same."""
    if before.name != study.name:
        raise CutnodeError(f"{path} cannot be resumed: it is of {before.name!r}")
    settings = plain(study.settings)
    for name in {**before.settings, **settings}:
        if before.settings.get(name) != settings.get(name):
            raise CutnodeError(f"{path} cannot be resumed: its setting {name!r} is another")
    for name in ("cutnode", "commit"):
        if before.machine.get(name) != study.machine.get(name):
            raise CutnodeError(f"{path} cannot be resumed: it is of another version of cutnode")
    for name, about in study.files.items():
        if before.files.get(name) != about:
            raise CutnodeError(f"{path} cannot be resumed: {name} was changed")
    return before.samples
