"""Scripts that measure; a package, so that none of that name among what is installed hides them."""
