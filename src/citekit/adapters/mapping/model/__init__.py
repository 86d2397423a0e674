"""Maps by a model: what every service is asked, how its answers are held against the file, and the services."""
