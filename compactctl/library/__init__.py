"""What Python programs call: the commands as functions, and one for lists of messages."""
