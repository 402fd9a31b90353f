"""Keys, tokens and passwords in a text, and masking them before it goes to another program."""
