"""What is installed in pi: an extension and the skill."""

from compactctl.clients.integration import ClientFiles, Integration, skill_in
from compactctl.store.client_folders import UserEnvironment, pi_folder


def _files(machine: UserEnvironment) -> ClientFiles:
    home = pi_folder(machine)
    extension = home / "extensions" / "compactctl.ts"
    return ClientFiles(files={**skill_in(home), "pi/extension.ts": extension})


INTEGRATION = Integration(client="pi", files=_files, answer="text", tells_agent=True)
