"""A session under a new id, as its client would have written it: one file per client."""
