"""Base learners, and how any learner is fitted on many views."""
