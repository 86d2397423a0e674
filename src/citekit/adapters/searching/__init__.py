"""Finding nodes by the words of their titles and summaries: by reading every map, or in an index that follows the maps."""
