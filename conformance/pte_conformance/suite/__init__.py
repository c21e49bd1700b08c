"""The tests that an implementation is held to; run them with ``pte-conformance run``.

Inside a pytest run of your own: ``pytest --pyargs pte_conformance.suite --pte-adapter NAME``.
"""
