"""What the pages for embedders show is true: each section runs by itself."""

from __future__ import annotations

import doctest
import re
import threading
from pathlib import Path

import pytest
from test_service import running

from engine.service.settings import Settings

PAGE = Path(__file__).parent.parent / "engine" / "docs" / "embedding.md"
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S))


@pytest.mark.parametrize("title", [title for title, text in SECTIONS.items() if ">>>" in text])
def test_examples_run(title: str, request: pytest.FixtureRequest) -> None:
    known = {}
    if title == "Behind HTTP":
        known["url"] = request.getfixturevalue("url")
    flags = doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(SECTIONS[title], known, title, str(PAGE), 0)
    assert len(test.examples) > 2
    failures, _ = doctest.DocTestRunner(optionflags=flags).run(test)
    assert failures == 0


@pytest.fixture
def url():
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
    assert set(links) <= anchors | {"in-a-dask-cluster"}
