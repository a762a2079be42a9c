"""Ensembles, one method per file. `_independent.py` and `_sequential.py` hold the only two fit loops."""
