"""Sessions of Kilo, which has OpenCode's tables in a database of its own."""

from compactctl.clients.opencode.store import Program, session_store

KILO = Program(name="kilo", title="Kilo", database_variable="KILO_DB")
STORE = session_store(KILO)
