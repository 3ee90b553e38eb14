"""Kernels: numpy arrays in and out, compiled by Numba."""
