"""What is known of models: names, context windows, prices, vocabularies."""
