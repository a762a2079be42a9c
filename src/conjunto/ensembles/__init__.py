"""Ensembles, one method per file. `_independent.py` holds the fit loop of those whose members are independent."""
