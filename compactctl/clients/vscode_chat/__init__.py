"""Chats of VS Code's Copilot Chat: exported, stored, or logged requests."""
