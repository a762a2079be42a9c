"""Fitted ensembles into smaller ones."""
