"""Formats of APIs: messages, requests, logs."""
