"""Chess endings: our entries compared with Syzygy and Gaviota, and the time of a probe.

    cutnode tablebase build chess --layer KBNvK --layer KQvKR --layer KRvKN --out endings.tb
    python -m benchmarks.studies.tablebase_peers endings.tb FOLDER

FOLDER has files of both kinds (python-chess's repository has some), which python-chess reads in
plain Python, as programs without a C library do.  Random positions of each layer are probed in all
tablebases that have it.  Values must be equal, and so must distances to mate where both store them;
Syzygy stores the distance to a capture or pawn move, of which only the sign can be compared.
(pip install chess)
"""

from __future__ import annotations

import argparse
import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import chess
import chess.gaviota
import chess.syzygy

from benchmarks.compiled import look_up_entries
from cutnode import CutnodeError
from cutnode.contract.messages import position_text
from cutnode.contract.positions import as_words
from cutnode.tablebases import Tablebase

COMPILED_PROBES = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tablebase")
    parser.add_argument("folder")
    parser.add_argument("--positions", type=int, default=1000, metavar="N")
    arguments = parser.parse_args()
    base = Tablebase.open(arguments.tablebase)
    with (
        chess.syzygy.open_tablebase(arguments.folder) as syzygy,
        chess.gaviota.PythonTablebase() as gaviota,
    ):
        gaviota.add_directory(arguments.folder)
        print(f"{'layer':8} {'probed':>8}  microseconds of a probe")
        for layer in base.layers():
            compare(base, layer["layer"], layer["indices"], arguments.positions, syzygy, gaviota)


def positions(base: Tablebase, layer: str, indices: int, most: int) -> Iterator[Any]:
    """Yield random positions of a layer."""
    dice = random.Random(layer)
    found = 0
    while found < most:
        with contextlib.suppress(CutnodeError):  # not every index has a position
            yield base.position_at(layer, dice.randrange(indices))
            found += 1


def compare(
    base: Tablebase, layer: str, indices: int, most: int, syzygy: Any, gaviota: Any
) -> None:
    """Compare all sources for a layer, and print the median time of a probe of each."""
    found = list(positions(base, layer, indices, most))
    boards = [chess.Board(position_text(position)) for position in found]
    entries, ours = timed(base.entry, found)
    times = {"here, compiled": compiled_probe(base, found), "here, from Python": ours}
    signs = [entry.value for entry in entries]
    try:
        values, times["Syzygy, value"] = timed(syzygy.probe_wdl, boards)
        assert [(value > 0) - (value < 0) for value in values] == signs
        plies, times["Syzygy, value and distance"] = timed(syzygy.probe_dtz, boards)
        assert [(count > 0) - (count < 0) for count in plies] == signs
    except chess.syzygy.MissingTableError:
        pass
    try:
        plies, times["Gaviota, distance"] = timed(gaviota.probe_dtm, boards)
        assert [abs(count) for count in plies] == [entry.distance or 0 for entry in entries]
    except chess.gaviota.MissingTableError:
        pass
    print(f"{layer:8} {len(found):8,}  ", end="")
    print(", ".join(f"{name} {1e6 * seconds:.3g}" for name, seconds in times.items()))


def timed(probe: Callable[[Any], Any], asked: list[Any]) -> tuple[list[Any], float]:
    """Return the answers to all questions, and the median time per question in seconds."""
    probe(asked[0])  # the first probe opens the tables
    answers, seconds = [], []
    for question in asked:
        started = time.perf_counter()
        answers.append(probe(question))
        seconds.append(time.perf_counter() - started)
    return answers, sorted(seconds)[len(seconds) // 2]


def compiled_probe(base: Tablebase, found: list[Any]) -> float:
    """Return the seconds per probe from compiled code, in the fastest of three rounds."""
    times = -(-COMPILED_PROBES // len(found))
    words = as_words(found * times)
    example = found[0]
    go = look_up_entries.specialise(type(example))
    seconds = []
    for _ in range(4):
        started = time.perf_counter()
        go(example, base.directory.numbers, words, len(found) * times)
        seconds.append((time.perf_counter() - started) / (len(found) * times))
    return min(seconds[1:])


if __name__ == "__main__":
    main()
