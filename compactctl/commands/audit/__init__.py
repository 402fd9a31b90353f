"""Compactions that are already in a transcript, judged by what they stand for."""
