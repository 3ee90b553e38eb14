"""Workflows: what the commands do, one call a stage."""
