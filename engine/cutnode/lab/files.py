"""Studies in files: written in the format that the file's ending names, and read back.

JSON, JSON Lines and HTML pages hold a complete study, and :func:`read_study` reads them.  A JSON
Lines file grows while the study runs (:class:`Journal`), so an interrupted study keeps its results
and can be resumed.
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
    """Return a study as a JSON object on one line; :func:`study_schema` describes it."""
    return json.dumps(study.to_dict()) + "\n"


def json_lines(study: Study) -> str:
    """Return a study as JSON Lines: its header, samples, rows and notes.

    A study that was not interrupted ends with an ``end`` line.
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
"""The writers of text formats, by file ending."""

TABLES = (".csv", ".md", ".tex")
"""The endings of table formats, in which some columns may be left out."""

SAMPLES = (".samples.csv", ".samples.jsonl", ".samples.parquet")
"""The endings of files for the samples of a study: what was measured of each position."""

OUT = (*TEXTS, ".parquet", ".html", *(f".{kind}" for kind in PLOTS), *SAMPLES)
"""The endings of files that a study can be written to."""


def check_out(path: str) -> None:
    """Check, before anything is measured, that a study can be written to a file."""
    suffix = suffix_of(path)
    if suffix[1:] in PLOTS:
        check_plot(path)
    if suffix.endswith(".parquet"):
        pyarrow_modules()
    check_file(path)


def write_study(study: Study, path: str, draw: Draw | None = None) -> None:
    """Write a study to a file, in the format of its ending, one of :data:`OUT`.

    *draw* draws its plot; studies of the laboratory's own experiments need none.
    """
    suffix = suffix_of(path)
    if suffix in SAMPLES:
        _write_samples(study, path, suffix)
        return
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


def _write_samples(study: Study, path: str, suffix: str) -> None:
    """Write the samples of a study to a file, in the format of its ending."""
    table = study.sample_table()
    if suffix == ".samples.parquet":
        _write_parquet(table.to_columns(), path, {"cutnode_study": json.dumps(study.header())})
    elif suffix == ".samples.jsonl":
        write_whole(path, "".join(json.dumps(plain(row)) + "\n" for row in table.rows).encode())
    else:
        write_whole(path, table.to_csv().encode())


def suffix_of(path: str) -> str:
    """Return the ending that says what a file is written as; :class:`CutnodeError` if none does."""
    found = [suffix for suffix in OUT if Path(path).name.lower().endswith(suffix)]
    if not found:
        raise CutnodeError(f"{path} cannot be written: its name must end in {', '.join(OUT)}")
    return max(found, key=len)


def _write_parquet(columns: dict[str, list[Any]], path: str, about: dict[str, str]) -> None:
    """Write columns, with *about* as metadata; a column of mixed types becomes text."""
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
    """Read a study from a JSON or JSON Lines file, or from an HTML page.

    An interrupted study has its results so far, and a note that says so.  :class:`CutnodeError` if
    the file has no study or is damaged.
    """
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data.startswith(GZIP) else data).decode()
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise CutnodeError(f"{path} cannot be read: it is truncated or damaged") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} cannot be read: it is not text in UTF-8") from None
    try:
        return Study.from_dict(_data(text))
    except CutnodeError as error:
        raise CutnodeError(f"{path} cannot be read: {error}") from None


def _data(text: str) -> Any:
    """Return the plain data of a study from a text in any of the formats."""
    if text.lstrip().startswith("<"):
        return study_in_page(text)
    first, _, rest = text.partition("\n")
    header = _json(first)
    if isinstance(header, dict) and isinstance(header.get("study"), dict):
        return _data_of_lines(header["study"], rest.splitlines())
    data = _json(text)
    if data is None:
        raise CutnodeError("it is neither JSON nor a page of cutnode's laboratory, or is truncated")
    return data


def _json(text: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _data_of_lines(header: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    """Return the plain data of a JSON Lines file, ignoring a truncated last line."""
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
    """Write the code files that a study contains into a folder, and return their paths.

    Relative paths are kept, so that the study can be repeated from that folder.
    :class:`CutnodeError` if the study contains no code, or if a file exists already.
    """
    texts = {
        Path(folder, _inside(path)): about["text"]
        for path, about in study.files.items()
        if isinstance(about, dict) and isinstance(about.get("text"), str)
    }
    if not texts:
        raise CutnodeError("the study contains no code files")
    check_file(Path(folder, "file"))
    for path in texts:
        if path.exists():
            raise CutnodeError(f"{path} cannot be written: it exists")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    return list(map(str, texts))


def _inside(path: str) -> Path:
    """Return a path that stays inside the folder it is joined to."""
    given = Path(path)
    return Path(given.name) if given.is_absolute() or ".." in given.parts else given


# During a run


class Journal(Follower):
    """A follower that keeps a study in a JSON Lines file while it runs.

    With *resume*, the study continues from the samples of an interrupted run in the file.  Without
    it, an interrupted study is not overwritten.  :class:`CutnodeError` in that case, or if the file
    is of another study.
    """

    def __init__(self, path: str, resume: bool = False):
        self.path = path
        self.earlier: list[dict[str, Any]] = []
        self.known: dict[tuple[str, ...], dict[tuple[Any, ...], dict[str, Any]]] = {}
        self.before = read_study(path) if resume and Path(path).exists() else None
        if not resume and _is_unfinished(path):
            raise CutnodeError(
                f"{path} has an interrupted study: resume it with --resume, or delete it"
            )

    def begin(self, study: Study) -> None:
        """Write the header, and the samples of an earlier run."""
        if self.before is not None:
            self.earlier = _samples_to_resume(self.path, self.before, study)
        lines = [_line("study", study.header())]
        lines += [_line("sample", sample) for sample in self.earlier]
        lines += [_line("note", note) for note in study.notes]
        write_whole(self.path, "".join(lines).encode())
        if self.before is not None:
            study.add_note(
                f"Resumed: {len(self.earlier):,} samples are from an earlier run, started "
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
    """Return whether a file has an interrupted study."""
    try:
        return read_study(path).stopped
    except CutnodeError:
        return False


def _samples_to_resume(path: str, before: Study, study: Study) -> list[dict[str, Any]]:
    """Return the samples of an interrupted run, if it was the same study as *study*."""
    if before.name != study.name:
        raise CutnodeError(
            f"{path} cannot be resumed: it is a study of {before.name!r}, not of {study.name!r}"
        )
    settings = plain(study.settings)
    for name in {**before.settings, **settings}:
        if before.settings.get(name) != settings.get(name):
            raise CutnodeError(f"{path} cannot be resumed: its setting {name!r} differs")
    for name in ("cutnode", "commit"):
        if before.machine.get(name) != study.machine.get(name):
            raise CutnodeError(f"{path} cannot be resumed: it is from another version of cutnode")
    for name, about in study.files.items():
        if before.files.get(name) != about:
            raise CutnodeError(f"{path} cannot be resumed: {name} has changed")
    return before.samples
