"""The catalogue of requirements, by layer."""
