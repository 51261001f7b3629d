"""The board in the browser: its page and the files that it loads.

The page loads nothing from other sites, and a Content-Security-Policy forbids it to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

WEB = Path(__file__).parent / "web"
"""The files of the board: plain HTML, CSS and JavaScript modules, served without a build."""

HEADERS = {
    "Cache-Control": "no-cache",  # revalidate: an update changes the files
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}


class WebFiles(StaticFiles):
    """Static files that a browser revalidates every time."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(HEADERS)
        return response


def add_pages(app: FastAPI) -> None:
    """Serve the board at ``/``, and its files under ``/web``."""

    @app.get("/", include_in_schema=False)
    def board() -> Response:
        return FileResponse(WEB / "index.html", headers=HEADERS)

    app.mount("/web", WebFiles(directory=WEB), name="web")
