"""What runs the experiments and reports on them."""
