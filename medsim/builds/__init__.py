"""Builds datasets from a terminology, and verifies builds."""
