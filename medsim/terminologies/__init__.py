"""Terminologies: sources read into canonical tables, releases written, releases invented."""
