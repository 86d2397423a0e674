"""Adapters of the cluster: the program that runs jobs on several machines."""
