"""Data sets: generators of the classic synthetic problems."""

from conjunto.datasets.generators import make_twonorm, make_waveform

__all__ = ["make_twonorm", "make_waveform"]
