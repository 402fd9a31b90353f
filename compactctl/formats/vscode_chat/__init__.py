"""Chats of VS Code's Copilot Chat: exported, stored by the editor, or logged requests."""
