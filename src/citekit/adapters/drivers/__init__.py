"""How third-party libraries are entered: imported on first use, set up once, their exceptions translated by one table.

The families (`mapping`, `extraction`, ...) never import one another; what two of them need of a library lies here.
"""
