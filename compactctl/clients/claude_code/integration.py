"""What is installed in Claude Code: two hooks, a status line and the skill."""

from compactctl.clients.integration import ClientFiles, Integration, skill_in
from compactctl.store.client_folders import UserEnvironment, claude_code_folder


def _files(machine: UserEnvironment) -> ClientFiles:
    home = claude_code_folder(machine)
    return ClientFiles(files=skill_in(home), settings=home / "settings.json", has_status_line=True)


INTEGRATION = Integration(client="claude-code", files=_files, answer="decision")
