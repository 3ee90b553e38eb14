"""Reports: results as tables and pages."""
