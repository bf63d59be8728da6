"""An independent judge of PDCP and SDAP: models from the specification, scenarios, and the comparison over a pipe."""
