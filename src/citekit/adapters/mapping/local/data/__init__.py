"""Outliners of files of data: by what stands at their top, with the lines that each part takes."""
