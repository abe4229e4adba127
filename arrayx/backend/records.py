"""What is known of each backend, in words: where it comes from, what is wrong, what to do."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

from arrayx import errors

# The distribution's own, known without metadata: a checkout or a frozen application works,
# and the default backend needs no scan.
BUILT_IN = {"numpy": "arrayx_numpy", "xla": "arrayx_xla", "cupy": "arrayx_cupy"}
INSTALL = {
    "numpy": "pip install arrayx",
    "xla": "pip install 'arrayx[xla]'",
    "cupy": "pip install 'arrayx[cupy]'",
}


@dataclass(frozen=True)
class Record:
    """What is known of one backend: where it comes from and whether it can be used.

    `state` is one of

    - "found": not loaded yet;
    - "ready";
    - "unavailable": it says itself what it needs;
    - "broken": it could not be loaded;
    - "faulty": it was loaded, and gave what its contract forbids;
    - "ignored": an entry point that cannot count, since its name is another's.

    `reason` is a sentence, `trace` the traceback, `remedy` what to do, `seconds` the time that
    loading took.
    """

    name: str
    origin: str
    state: str
    reason: str = ""
    trace: str = ""
    remedy: str = ""
    seconds: float = 0.0

    @property
    def works(self) -> bool:
        """False for what somebody has to repair."""
        return self.state not in ("broken", "faulty")


def shipped(name: str) -> bool:
    """False for a first-party backend whose module this version does not have."""
    return name not in BUILT_IN or importlib.util.find_spec(BUILT_IN[name]) is not None


def describe(entry: Any) -> str:
    """An entry point in words: its value and the distribution it belongs to."""
    dist = getattr(entry, "dist", None)
    return f"{entry.value} of {dist.name} {dist.version}" if dist is not None else str(entry.value)


def package_of(entry: Any) -> str:
    """The name of the distribution that an entry point belongs to, for pip."""
    dist = getattr(entry, "dist", None)
    return str(dist.name) if dist is not None else ""


class DuplicateError(errors.BackendUnavailableError):
    """Several distributions register one name."""


class VersionError(errors.BackendUnavailableError):
    """A plugin was made for another version of the contract; `newer` than this one or not."""

    def __init__(self, message: str, newer: bool) -> None:
        super().__init__(message)
        self.newer = newer


def remedy_of(name: str, entries: list[Any], error: BaseException) -> str:
    """What a user can do about a backend that could not be made."""
    if name in BUILT_IN:
        return INSTALL[name] if shipped(name) else ""
    if isinstance(error, DuplicateError):
        packages = " or ".join(f"pip uninstall {package_of(e)}" for e in entries)
        return f"keep one of them: {packages}"
    package = package_of(entries[0]) if entries else ""
    this = package or "its package"
    if isinstance(error, VersionError):
        return f"pip install --upgrade {'arrayx' if error.newer else this}"
    if isinstance(error, errors.BackendUnavailableError):
        return ""  # its own message says what is missing
    if isinstance(error, ModuleNotFoundError) and error.name:
        module = entries[0].value.split(":")[0] if entries else ""
        if module == error.name or module.startswith(f"{error.name}."):
            return (
                f"{this} is installed in part: pip install --force-reinstall {this}, or "
                f"pip uninstall {this}"
            )
        if error.name.split(".")[0] == "arrayx":
            return f"it was written for another arrayx: pip install --upgrade arrayx {package}"
        return f"install what brings the module {error.name!r}, which {this} needs"
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] == "arrayx":
        return f"it was written for another arrayx: pip install --upgrade arrayx {package}"
    removal = f", or pip uninstall {package}" if package else ""
    return f"tell its authors, with the traceback{removal}; other backends are not affected"


def unavailable(record: Record) -> errors.BackendUnavailableError:
    """The error for a backend that is known but cannot be used."""
    told = not record.remedy or record.remedy in record.reason
    remedy = "" if told else f" Try: {record.remedy}"
    # A reason that is a whole sentence about the backend needs no beginning.
    whole = record.reason.startswith(f"backend {record.name!r}")
    begin = "" if whole else f"backend {record.name!r} cannot be used: "
    return errors.BackendUnavailableError(f"{begin}{record.reason}.{remedy}")
