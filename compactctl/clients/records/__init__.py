"""From raw lines to a transcript: decoding, envelopes, order, the builder."""
