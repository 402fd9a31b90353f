"""Sessions in clients' stores: listed, and found by what people call them."""
