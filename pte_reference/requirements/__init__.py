"""The catalogue of requirements, by layer; importing this package registers all of them."""

from pte_reference.requirements import container, data, encoding, fidelity, program, writer

__all__ = ["container", "data", "encoding", "fidelity", "program", "writer"]
