"""What the pages for embedders show is true: each section runs by itself."""

from __future__ import annotations

import doctest
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_service import running

from engine.service.settings import Settings

PAGE = Path(__file__).parent.parent / "engine" / "docs" / "embedding.md"
BEST_FIRST, TABLEBASES = (PAGE.with_name(f"{name}.md") for name in ("best_first", "tablebases"))
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S))


CLUSTER = "In a Dask cluster"  # processes of its own


EXAMPLES = [
    pytest.param(title, marks=[pytest.mark.slow] if title == CLUSTER else [])
    for title, text in SECTIONS.items()
    if ">>>" in text
]


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples_run(title: str, request: pytest.FixtureRequest) -> None:
    known: dict[str, Any] = {}
    if title == "Behind HTTP":
        known["url"] = request.getfixturevalue("url")
    if title == CLUSTER:
        pytest.importorskip("engine.cluster")
    test = doctest.DocTestParser().get_doctest(SECTIONS[title], known, title, str(PAGE), 0)
    assert len(test.examples) > 2
    failures, _ = doctest.DocTestRunner().run(test)
    assert failures == 0


@pytest.fixture
def url() -> Iterator[str]:
    ready = threading.Event()
    games = ("connect4", "tictactoe")
    with running(Settings(games=games, searches=2), ready=ready.set) as (_, url):
        assert ready.wait(120)
        yield url


def test_links_lead_to_sections() -> None:
    text = PAGE.read_text()
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in SECTIONS}
    links = re.findall(r"\]\(#(.*?)\)", text)
    assert len(links) > 5
    assert set(links) <= anchors


@pytest.mark.parametrize(
    ("page", "least"), [(TABLEBASES, 10), pytest.param(BEST_FIRST, 3, marks=pytest.mark.slow)]
)
def test_pages_run(page: Path, least: int) -> None:
    failures, examples = doctest.testfile(str(page), module_relative=False)
    assert (failures, examples >= least) == (0, True)
