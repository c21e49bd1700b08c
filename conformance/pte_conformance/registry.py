"""Names of adapters, and the classes behind them.

A name is one of the built-in adapters, one that an installed package announces under the
entry point group ``pte_conformance.adapters``, or ``module:attribute``. Nothing here imports
an implementation before its adapter is asked for.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from importlib import metadata

from pte_conformance.adapter import Adapter

ENTRY_POINT_GROUP = "pte_conformance.adapters"

BUILT_IN = ("reference", "flatbuffers-python", "executorch-python")
"""Adapters of this package; each has the module ``adapters/NAME.py`` with ``ADAPTER``."""


class UnknownAdapter(Exception):
    """No adapter has that name, or what the name leads to is none.

    Attributes:
        name: the name asked for.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(f"no adapter {name!r}: {reason}")


@dataclass(frozen=True, slots=True)
class Listed:
    """An adapter that can be named.

    Attributes:
        name: its name.
        origin: ``built in``, or the distribution that announces it.
    """

    name: str
    origin: str


def known_adapters() -> list[Listed]:
    """The built-in adapters and those that installed packages announce, by name."""
    announced = {
        point.name: Listed(point.name, point.dist.name if point.dist else "unknown package")
        for point in metadata.entry_points(group=ENTRY_POINT_GROUP)
        if point.name not in BUILT_IN
    }
    return [*(Listed(name, "built in") for name in BUILT_IN), *(announced[one] for one in sorted(announced))]


def adapter_class(name: str) -> type[Adapter]:
    """The adapter class with that name; its implementation is not imported yet.

    Raises:
        UnknownAdapter: there is none; the message names the closest ones.
    """
    if ":" in name:
        return _named_attribute(name)
    if name in BUILT_IN:
        module = importlib.import_module(f"pte_conformance.adapters.{name.replace('-', '_')}")
        return _checked(name, module.ADAPTER)
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP, name=name):
        return _checked(name, point.load())
    known = [one.name for one in known_adapters()]
    close = difflib.get_close_matches(name, known, n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
    raise UnknownAdapter(name, f"{hint} (a class of your own is named module:Class)")


def _named_attribute(name: str) -> type[Adapter]:
    module_name, _, attribute = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # Another missing module is a fault inside the adapter's own, and its trace tells where.
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise UnknownAdapter(name, f"there is no module {error.name!r}") from error
    except ValueError as error:
        raise UnknownAdapter(name, str(error)) from error
    for step in attribute.split("."):
        if not hasattr(found, step):
            raise UnknownAdapter(name, f"{module_name} has no {attribute!r}")
        found = getattr(found, step)
    return _checked(name, found)


def _checked(name: str, found: object) -> type[Adapter]:
    if isinstance(found, type) and issubclass(found, Adapter):
        return found
    raise UnknownAdapter(name, f"{found!r} is not a subclass of pte_conformance.adapter.Adapter")
