"""The pages that a browser opens: the board, and the description of all questions.

Both are served whole from here: they load nothing from other sites, and are told to load nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

WEB = Path(__file__).parent / "web"
"""The files of the board: plain HTML, CSS and modules of JavaScript, as the browser takes them."""

HEADERS = {
    "Cache-Control": "no-cache",  # ask whether a file has changed, as it does with an update
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}


class WebFiles(StaticFiles):
    """Static files that a browser asks about each time."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(HEADERS)
        return response


def add_pages(app: FastAPI) -> None:
    """Serve the board at ``/``, and its files."""

    @app.get("/", include_in_schema=False)
    def board() -> Response:
        return FileResponse(WEB / "index.html", headers=HEADERS)

    app.mount("/web", WebFiles(directory=WEB), name="web")
