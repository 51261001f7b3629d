"""Failures: errors as answers."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from starlette.exceptions import HTTPException

from cutnode.contract.errors import (
    ContractError,
    CutnodeError,
    GameError,
    PositionError,
    TableError,
)
from cutnode.contract.text import quoted
from cutnode.service.models import ErrorBody

MEANINGS: dict[int, tuple[str, str]] = {
    400: ("bad request", "The body cannot be parsed."),
    403: ("not allowed", "The host or the origin of the request is not allowed."),
    404: ("no such page", "There is no such game, position, move or evaluation."),
    405: ("wrong method", "The route does not support this method."),
    408: ("too slow", "The request took too long to arrive."),
    409: ("refused by the game", "The game does not support this request."),
    413: ("too large", "The request is too large."),
    422: ("bad request", "The request does not match its schema."),
    500: ("failure", "The rules of the game failed, or an unexpected error occurred."),
    503: ("too many", "Too many searches or games, or the service is starting or stopping."),
}
"""The default kind of error of each status, and its description in the OpenAPI document."""


class Failure(HTTPException):
    """An answer that is an error: its status, what was wrong, and where.

    *error* is one of the kinds of :class:`ErrorBody`; *wait* is when to retry, in seconds.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        where: str | None = None,
        *,
        error: str | None = None,
        wait: int | None = None,
    ):
        headers = {} if wait is None else {"Retry-After": str(wait)}
        if status in (408, 413):
            headers["Connection"] = "close"  # the rest of the body is not read
        super().__init__(status, detail, headers)
        kind = WHERE_KINDS.get((where or "").partition("[")[0]) if status == 404 else None
        self.error = error or kind or MEANINGS[status][0]
        self.where = where

    def model(self) -> ErrorBody:
        return ErrorBody.model_validate(
            {"error": self.error, "detail": self.detail, "where": self.where}
        )


WHERE_KINDS = {
    "path.game": "no such game",
    "query.position": "no such position",
    "body.position": "no such position",
    "body.history": "no such position",
    "body.cells": "no such position",
    "body.mover": "no such position",
    "body.moves": "no such move",
    "body.move": "no such move",
    "body.text": "no such move",
    "body.record": "no such move",
    "body.evaluation": "no such evaluation",
}
"""The kind of a 404, by the part of the request that named what is missing."""


def failure_of(error: Exception) -> Failure:
    """Return the failure that stands for an error of a search."""
    if isinstance(error, Failure):
        return error
    detail = " ".join(str(error).split())
    if isinstance(error, ContractError):
        return Failure(500, detail, error="broken game")
    if isinstance(error, TableError):
        return Failure(503, detail, wait=1)
    if isinstance(error, PositionError):
        return Failure(404, detail, "body.position")
    if isinstance(error, GameError):
        return Failure(409, detail)
    if isinstance(error, CutnodeError):
        return Failure(422, detail, "body")
    return Failure(500, f"unexpected {type(error).__name__}")


@contextlib.contextmanager
def as_failures() -> Iterator[None]:
    """Raise the errors of a game as failures."""
    try:
        yield
    except Exception as error:
        failure = failure_of(error)
        if failure.status_code == 500:
            report(error)
        raise failure from error


def report(error: Exception) -> None:
    """Log an unexpected error for the operator of the service."""
    logging.getLogger(__name__).error("a request failed", exc_info=error)


def failure_of_request(errors: Sequence[Any]) -> Failure:
    """Return the failure for a malformed request: its first error."""
    first = errors[0]
    if first["type"] == "json_invalid":
        place = "".join(f", character {step}" for step in first["loc"][1:])
        return Failure(400, f"invalid JSON: {first['ctx']['error']}{place}", "body")
    if first["type"] in ("union_tag_not_found", "union_tag_invalid"):
        name = first["ctx"]["discriminator"].strip("'")
        known = first["ctx"].get("expected_tags")
        return Failure(422, f"Input should be one of {known}" if known else "Field required", name)
    where = ""
    for step in first["loc"]:
        if isinstance(step, int):
            where += f"[{step}]"
        else:
            name = step if step.isidentifier() else quoted(step)
            where += f".{name}" if where else name
    more = "" if len(errors) == 1 else f", and {len(errors) - 1} more"
    return Failure(422, f"{first['msg']}{more}", where)


ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
"""The content of all errors."""


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors with which a route may answer."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in (403, *statuses):
        described[status] = {"description": MEANINGS[status][1], "content": ERROR_CONTENT}
    if 503 in described:
        described[503]["headers"] = {
            "Retry-After": {
                "description": "Seconds to wait before retrying.",
                "schema": {"type": "integer", "minimum": 1},
            }
        }
    return described
