"""The on-card cost model (modelled, never measured): docs/design/cost-model.md says what it can tell and what not."""
