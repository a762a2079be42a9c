"""A store into one HTML page that explains itself."""

from conjunto.report.page import report_facts, with_findings, write_page, write_report

__all__ = ["report_facts", "with_findings", "write_page", "write_report"]
