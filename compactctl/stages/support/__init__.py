"""What stages share: options, truncation, condensation, replacement, cutting."""
