"""The nouns of CiteKit: frozen values and pure functions, standard library and attrs only."""
