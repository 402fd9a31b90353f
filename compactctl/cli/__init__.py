"""The command line: options from what is typed and set, which of them count, exit codes out."""
