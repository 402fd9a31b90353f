"""What providers reported of the requests in a conversation, and what follows from it."""
