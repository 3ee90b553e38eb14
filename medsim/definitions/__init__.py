"""Definitions of builds, splits and exports: all that is needed to repeat them, without terms."""
