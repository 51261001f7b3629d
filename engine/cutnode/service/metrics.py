"""The metrics of a service, in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST


class Metrics:
    """The metrics of one service; several services in a process do not mix theirs."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "cutnode_requests",
            "Responses, by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "cutnode_search_seconds",
            "Time of searches, by kind and game.",
            ["kind", "game"],
            registry=self.registry,
            buckets=(0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60),
        )
        self.nodes = Counter(
            "cutnode_nodes",
            "Nodes visited, by kind and game.",
            ["kind", "game"],
            registry=self.registry,
        )

    def watch(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read whenever metrics are requested."""
        Gauge(name, about, registry=self.registry).set_function(read)

    media_type = CONTENT_TYPE_LATEST

    def text(self) -> bytes:
        """Return all metrics as text."""
        return generate_latest(self.registry)
