"""The optional libraries that parts of cutnode need, each installed by an extra."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import Any

from cutnode.contract.errors import CutnodeError


def extra(module: str, name: str, what: str) -> Any:
    """Return a module of the extra *name*; *what* begins the message, as in "plots need".

    :class:`CutnodeError` if it is not installed, with the command that installs it, or if it is
    installed but cannot be imported, with its version.
    """
    try:
        return importlib.import_module(module)
    except Exception as error:
        package = module.partition(".")[0]
        if importlib.util.find_spec(package) is None:
            raise CutnodeError(f"{what} {package}: pip install 'cutnode[{name}]'") from None
        raise CutnodeError(
            f"{what} {package}, but {_installed(package)} cannot be imported "
            f"({type(error).__name__}: {error}); 'cutnode[{name}]' installs a version that works"
        ) from error


def _installed(package: str) -> str:
    """Return the names and versions of the distributions that contain a package."""
    names = importlib.metadata.packages_distributions().get(package, ())
    known = [f"{name} {importlib.metadata.version(name)}" for name in sorted(set(names))]
    return ", ".join(known) or f"the installed {package}"
