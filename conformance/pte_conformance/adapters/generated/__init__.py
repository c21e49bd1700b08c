"""Classes that ``flatc`` generates from the printed schema; see ``generate_classes.py``."""
