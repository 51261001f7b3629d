"""Published results: their data files, the verdicts, and their measurement in a small size."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from math import inf

import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import CutnodeError
from cutnode.lab import write_study
from cutnode.lab.literature import draw, entries, experiment, literature
from cutnode.lab.literature.entries import (
    IN_SIGN,
    NOT,
    REPRODUCED,
    Planned,
    Result,
    entry_of,
)
from cutnode.lab.study import EXPERIMENTS, INTERRUPTED, Follower, Study, _parameters

pytestmark = [compiled_only, pytest.mark.once]

ENTRIES = {entry.name: entry for entry in entries()}
TEXTS = ("title", "source", "read", "claim", "setup", "here", "difference")


def function_of(planned):
    module, _, name = EXPERIMENTS[planned.experiment].partition(":")
    return getattr(import_module(module), name)


# Data files


def test_there_are_twenty_publications():
    assert len({entry.source for entry in ENTRIES.values()}) >= 20


@pytest.mark.parametrize("name", ENTRIES)
def test_data_file(name):
    """The texts are there, and the experiments have its settings and figures."""
    entry = ENTRIES[name]
    assert all(getattr(entry, text).strip() for text in TEXTS)
    assert all(getattr(entry, text).endswith(".") for text in ("source", "claim", "here"))
    studies = {planned.name: planned for planned in entry.studies}
    for planned in entry.studies:
        known = _parameters(function_of(planned))
        given = set(planned.settings) | ({"positions"} if planned.file or planned.sample else set())
        assert given <= known.keys() | {"game", "positions"}
        assert all(each in given or each == "seeds" for each, needed in known.items() if needed)
    for result in entry.results:
        module = import_module(function_of(studies[result.study]).__module__)
        columns = [column for each in vars(module).values() for column in _columns_in(each)]
        assert result.figure in columns
        swept = studies[result.study].settings.get("ranges", {})
        assert set(result.row) <= {*columns, *swept, "engine"}
    assert len({each.of for each in (*entry.results, *entry.values)}) == len(
        (*entry.results, *entry.values)
    )


def _columns_in(value):
    return [each.name for each in value if hasattr(each, "form")] if type(value) is tuple else []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"titel": "x"}, "Entry has no 'titel'"),
        ({"claim": None}, "Entry lacks 'claim'"),
        ({"studies": [{"experiment": "ablaton", "settings": {}}]}, "no experiment 'ablaton'"),
        ({"results": []}, "there is no result"),
        ({"results": [{"of": "x", "row": {}, "figure": "y", "within": [2, 1]}]}, "not within"),
        ({"results": [{"of": "x", "row": {}, "figure": "y"}]}, "not within"),
        (
            {"results": [{"of": "x", "row": {}, "figure": "y", "published": 1, "study": "z"}]},
            "unknown study",
        ),
    ],
)
def test_faulty_data_files(change, fault):
    good = {text: "x" for text in TEXTS} | {
        "studies": [{"experiment": "theory", "settings": {}}],
        "results": [{"of": "x", "row": {}, "figure": "leaves", "published": 1}],
    }
    assert entry_of("test", good).results[0].number == 1
    data = {key: value for key, value in (good | change).items() if value is not None}
    with pytest.raises(CutnodeError, match=fault):
        entry_of("test", data)


def test_unknown_names():
    with pytest.raises(CutnodeError, match=r"unknown entry 'perl' \(did you mean 'pearl'\?\)"):
        entries(["perl"])
    result = run_cutnode("lab", "literature", "zzz", "--list")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "--list` lists the entries" in result.stderr


def test_list():
    data = json.loads(run_cutnode("lab", "literature", "--list", "--json").output)
    assert [row["entry"] for row in data["rows"]] == list(ENTRIES)


# Verdicts

SAVED = {"within": (0.1, 0.2), "none": 0}
MORE = {"within": (1, inf), "none": 1}
EXACT = {"published": 29}


@pytest.mark.parametrize(
    ("result", "measured", "verdict"),
    [
        (SAVED, (0.15, 0.12, 0.18), REPRODUCED),
        (SAVED, (0.22, 0.19, 0.25), REPRODUCED),
        (SAVED, (0.30, 0.25, 0.35), IN_SIGN),
        (SAVED, (0.05, 0.02, 0.08), IN_SIGN),
        (SAVED, (0.15, -0.05, 0.35), NOT),
        (SAVED, (-0.1, -0.2, -0.05), NOT),
        (MORE, (1.5, 1.2, 1.9), REPRODUCED),
        (MORE, (1.1, 0.9, 1.3), NOT),
        (MORE, (0.8, 0.7, 0.9), NOT),
        ({"within": (0, 1), "none": 1}, (0.8, 0.7, 0.9), REPRODUCED),
        ({"within": (2, 3), "none": 6}, (1.6, 1.5, 1.7), IN_SIGN),
        ({"within": (2, 3), "none": 6}, (6.5, 6.2, 6.8), NOT),
        (EXACT, (29.0, None, None), REPRODUCED),
        (EXACT, (29.0, 29.0, 29.0), REPRODUCED),
        (EXACT, (29.1, None, None), NOT),
        (EXACT, (28.9, 28.7, 29.1), REPRODUCED),
        ({"within": (-inf, 1.5)}, (1.4, 1.3, 1.45), REPRODUCED),
    ],
)
def test_verdict(result, measured, verdict):
    assert Result("x", {}, "y", **result).verdict(measured) == verdict


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (SAVED, "0.1 to 0.2"),
        (MORE, "more than 1"),
        ({"within": (0.75, inf), "none": 0}, "at least 0.75"),
        ({"within": (-inf, 1.5)}, "at most 1.5"),
        (EXACT, "29"),
        ({"published": 0.99, "within": (0.985, 1)}, "0.99 (0.985 to 1)"),
    ],
)
def test_published_numbers_as_texts(result, said):
    assert Result("x", {}, "y", **result).said == said


def made_up():
    rows = [
        {"search": "a", "nodes": 30, "gain": 1.25, "gain_low": 1.1, "gain_high": 1.6},
        {"search": "b", "leaves": 10.0, "error": 1.0, "growth": 2.0},
    ]
    samples = [
        {"search": search, "position": position, "nodes": nodes}
        for search, position, nodes in (("a", "x", 8), ("a", "y", 2), ("b", "x", 4), ("b", "y", 1))
    ]
    return Study("theory", "", {"x": 1}, (), rows, samples=samples)


@pytest.mark.parametrize(
    ("result", "figure"),
    [
        ({"row": {"search": "a"}, "figure": "gain"}, (1.25, 1.1, 1.6)),
        ({"row": {"search": "a"}, "figure": "gain", "turned": "saved"}, (0.2, 1 / 11, 0.375)),
        ({"row": {"search": "a"}, "figure": "gain", "turned": "inverse"}, (0.8, 0.625, 1 / 1.1)),
        ({"row": {"search": "b"}, "figure": "leaves"}, (10, 8.04, 11.96)),
        ({"row": {"search": "b"}, "figure": "growth"}, (2, None, None)),
        ({"row": {"search": "a"}, "against": {"search": "b"}, "figure": "nodes"}, (2, 2, 2)),
    ],
)
def test_figures_of_a_study(result, figure):
    found = experiment.figure_of(Result("x", published=1.0, **result), made_up())
    assert found == pytest.approx(figure)


def test_missing_figures_are_errors():
    for row in ({"search": "c"}, {"search": "b"}):
        with pytest.raises(CutnodeError, match="theory has no gain of"):
            experiment.figure_of(Result("x", row, "gain", published=1.0), made_up())


# Measurements


@pytest.fixture(scope="module")
def study():
    return literature(["knuth-moore"])


def test_measured_and_published(study):
    assert {row["verdict"] for row in study.rows} == {REPRODUCED}
    assert study.rows[0]["published"] == "15" and study.rows[0]["measured"] == 15
    assert study.summary() == [
        "5 numbers of 1 entries: 5 reproduced, 0 reproduced in sign only, 0 not reproduced."
    ]
    assert any("Knuth" in note for note in study.notes)


def test_plot(study, tmp_path):
    pytest.importorskip("matplotlib")
    write_study(study, str(tmp_path / "plot.svg"), draw)
    assert "measured / published" in (tmp_path / "plot.svg").read_text()


class Remembering(Follower):
    """A follower that has the samples of an earlier run."""

    def __init__(self, samples):
        self.samples = samples

    def recall(self, key):
        return next((s for s in self.samples if key.items() <= s.items()), None)


def test_interruption_keeps_what_is_measured(monkeypatch):
    run = experiment.run

    def interrupted(planned):
        if planned.settings["models"] == ["random"]:
            raise KeyboardInterrupt
        return run(planned)

    monkeypatch.setattr(experiment, "run", interrupted)
    study = literature(["knuth-moore", "pearl"])
    assert INTERRUPTED in study.notes and {row["entry"] for row in study.rows} == {"knuth-moore"}

    monkeypatch.setattr(experiment, "run", lambda planned: pytest.fail("it is measured again"))
    again = literature(["knuth-moore"], progress=Remembering(study.samples))
    assert again.rows == study.rows


SIZES = {"depth": 3, "runs": 1, "pairs": 1, "nodes": 3000, "most_nodes": 10**6, "table_mb": 4}


def smaller(planned: Planned) -> Planned:
    """Return an experiment in a size that takes hardly more than its compilation."""
    settings = dict(planned.settings)
    for name, most in SIZES.items():
        if name in settings:
            settings[name] = min(most, settings[name])
    for text in ("a", "b"):
        if text in settings:
            settings[text] = settings[text].replace("playouts=300", "playouts=10")
    sample = planned.sample and {**planned.sample, "count": min(2, planned.sample["count"])}
    return replace(planned, settings=settings, first=2, sample=sample, trees=planned.trees and 2)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.studies])
def test_each_study_runs_in_a_small_size(name, monkeypatch):
    """Each study has the rows that the results ask for, if their depths are as published."""
    entry = ENTRIES[name]
    for planned in map(smaller, entry.studies):
        study = experiment.run(planned)
        assert study.rows
        for result in entry.results:
            if result.study == planned.name and "depth" not in result.row:
                row = {key: value for key, value in result.row.items() if key != "depth"}
                try:
                    assert experiment.figure_of(replace(result, row=row), study)
                except CutnodeError:  # such as a proof that no engine found in so few nodes
                    assert planned.experiment in ("engines", "combinations", "compare")
