"""What is known of models: names, windows, whose tokens they count."""
