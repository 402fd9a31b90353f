"""Requests and responses of OpenAI's Responses API, and items as its Agents SDKs store them."""
