"""A store into one HTML page that explains itself."""

from conjunto.report.page import report_facts, write_page, write_report

__all__ = ["report_facts", "write_page", "write_report"]
