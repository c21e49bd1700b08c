"""One way to call an implementation, wherever it runs.

:func:`open_session` gives a :class:`Session`; each :meth:`Session.call` ends in exactly one
outcome of :mod:`pte_conformance.adapter`. The modules here import only the standard library,
``pte_reference`` and the adapter interface, since the worker process loads them too.
"""

from pte_conformance.transport.limits import Limits
from pte_conformance.transport.session import (
    AdapterBroken,
    InProcessSession,
    Session,
    TransportFailure,
    open_session,
)

__all__ = ["AdapterBroken", "InProcessSession", "Limits", "Session", "TransportFailure", "open_session"]
