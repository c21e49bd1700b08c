"""Tests of our own code; not shipped."""
