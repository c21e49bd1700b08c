"""The checks of the container, program and data layers: functions that yield findings.

(The encoding layer is checked by the walks in :mod:`pte_reference.encoding`.)
"""
