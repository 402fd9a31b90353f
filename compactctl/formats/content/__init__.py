"""What stands in messages, shared by formats: blocks, tool calls, images, what clients inject."""
