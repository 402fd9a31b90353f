"""What is installed in Codex: two hooks and the skill."""

from compactctl.clients.integration import ClientFiles, Integration, skill_in
from compactctl.store.client_folders import UserEnvironment, codex_folder


def _files(machine: UserEnvironment) -> ClientFiles:
    home = codex_folder(machine)
    return ClientFiles(
        files=skill_in(home),
        settings=home / "hooks.json",
        notes=("Codex runs new hooks once they are trusted: type /hooks in it",),
    )


INTEGRATION = Integration(client="codex", files=_files, answer="continue")
