"""Hand-over documents: templates, sections, and what fills them."""
