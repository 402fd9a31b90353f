"""Models, stages, profiles and settings as JSON documents."""
