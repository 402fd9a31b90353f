"""What there is: models, stages, profiles, settings."""
