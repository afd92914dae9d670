"""The report: one page with every claim, verdict and figure."""

from .page import build_report
from .results_file import environment_of, summary

__all__ = ["build_report", "environment_of", "summary"]
