"""Commands that explain what there is: models, stages, profiles, settings."""
