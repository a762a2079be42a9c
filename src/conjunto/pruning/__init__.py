"""Smaller ensembles in place of large ones: some of the members, or one tree."""
