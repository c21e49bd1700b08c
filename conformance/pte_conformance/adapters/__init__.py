"""The built-in adapters, one file each."""
