"""The lab: what the papers say, and models of what is not here. Run from the repository's root."""
