"""A digest: the lines of a conversation that will be needed again, in order and verbatim."""
