"""The use cases of CiteKit: callable classes that use ports."""
