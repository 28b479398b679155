"""Runs the experiments and reports on them."""
