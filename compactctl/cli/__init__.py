"""The command line: options from arguments, environment and settings files; exit codes out."""
