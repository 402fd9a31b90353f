"""Message content shared by formats: blocks, tool calls, media, answers."""
