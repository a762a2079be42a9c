"""Models of any kind into one estimator: one way to combine them per file, on one fit (`_combiner.py`)."""
