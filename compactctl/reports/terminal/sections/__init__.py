"""Parts that several results on a terminal are made of."""
