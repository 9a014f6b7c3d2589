"""A package that is started with python -m, or by a console script."""
