"""Entities that turn up in any session and therefore tell nothing about this one."""

# Gathered by looking for "entities" that sessions of unrelated projects share.
_WORDS = """
README.md package.json index.js index.ts main.py setup.py requirements.txt __init__ __init__.py
__main__ __name__ JavaScript TypeScript GitHub PostgreSQL NumPy SQLite TodoWrite file_path
old_string new_string replace_all run_in_background subagent_type tool_use_id activeForm
output_mode in_progress multi-line real-time built-in end-to-end follow-up up-to-date well-known
non-zero pre-existing step-by-step read-only /dev/null /dev/stdin /usr/bin /usr/local
/usr/local/bin /bin/bash /bin/sh origin/main origin/master self.assertEqual os.path sys.exit
console.log application/json text/plain text/html and/or either/or TODO/FIXME ValueError
TypeError KeyError RuntimeError ENOENT EACCES REDACTED_EMAIL
system-reminder files_with_matches general-purpose
"""
COMMONPLACES = frozenset(_WORDS.split())
