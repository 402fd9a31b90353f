"""Chats of VS Code's Copilot Chat: exported, as kept by the editor, and logged requests."""
