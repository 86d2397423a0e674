"""The tables that CiteKit keeps in a PostgreSQL database, and the connections to it."""
