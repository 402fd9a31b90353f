"""What is installed in OpenCode: a plugin and the skill."""

from compactctl.clients.integration import ClientFiles, Integration, skill_in
from compactctl.store.client_folders import UserEnvironment, opencode_settings_folder


def _files(machine: UserEnvironment) -> ClientFiles:
    home = opencode_settings_folder(machine)
    plugin = home / "plugins" / "compactctl.js"
    return ClientFiles(files={**skill_in(home), "opencode/plugin.js": plugin})


INTEGRATION = Integration(client="opencode", files=_files, answer="text")
