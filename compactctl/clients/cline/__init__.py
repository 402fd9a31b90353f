"""Histories of Cline, its SDK and Roo Code."""
