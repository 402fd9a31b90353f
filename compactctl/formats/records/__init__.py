"""From raw lines to a transcript, shared by formats: decoding, envelopes, order, the builder."""
