"""Decides who may use the HTTP server, and records what they did."""
