"""Message content shared by formats: blocks, tool calls, media, text that clients inject."""
