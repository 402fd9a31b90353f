"""The counts in sessions of Copilot CLI that say how large the context is."""

from compactctl.model.usage_fields import UsageFields

COUNTS = UsageFields(
    path=("data",),
    input=("conversationTokens",),
    cached_inputs=(),
    output=("systemTokens",),
    others=(("toolDefinitionsTokens",),),
    total=("currentTokens",),
    is_of_session=True,
)
"""Those of a ``session.shutdown`` event, which lists of sessions show.

Version 1.0.102 counts a session anew when it resumes it: neither these counts nor those of
``assistant.usage``, ``session.usage_info`` and ``session.usage_record`` made it compact one.
"""
