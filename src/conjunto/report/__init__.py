"""A store into one HTML page that explains itself."""

from conjunto.report.page import write_report

__all__ = ["write_report"]
