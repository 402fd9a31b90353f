"""Tokens whose first characters tell who issued them."""

import re
from collections.abc import Collection
from functools import cache, partial

from compactctl.secrets.patterns import mask_match, word_pattern

_ALNUM = "[A-Za-z0-9]"
_GITHUB = tuple((f"gh{letter}_", rf"{_ALNUM}{{16,}}") for letter in "pousr")
_GITLAB = ("pat", "ptt", "dt", "rt", "cbt", "soat", "ft", "ffct", "imt", "agent", "oas")
_STRIPE = tuple(f"{key}_{mode}_" for key in ("sk", "rk") for mode in ("live", "test", "prod"))
# Prefixes of tokens, and what follows: gitleaks, config/gitleaks.toml at b58d3f1 (MIT), and the
# services' documentation. Lengths are lower bounds, since a truncated token is a secret, too.
_KINDS: dict[str, tuple[tuple[str, str], ...]] = {
    "aws-key-id": tuple((name, r"[A-Z0-9]{16}\b") for name in ("AKIA", "ASIA", "ABIA", "ACCA")),
    "github-token": (*_GITHUB, ("github_pat_", r"\w{16,}")),
    "gitlab-token": (
        *((f"gl{name}-", r"[\w.-]{16,}") for name in _GITLAB),
        ("GR1348941", r"[\w-]{16,}"),
    ),
    "slack-token": (("xox", r"[a-z]-[\w-]{10,}"), ("xapp-", r"[\w-]{10,}")),
    "google-key": (
        ("AIza", r"[\w-]{30,}"),
        ("ya29.", r"[\w.-]{16,}"),
        ("GOCSPX-", r"[\w-]{16,}"),
        ("AQ.", r"[\w-]{40,}"),
    ),
    "api-key": (
        # Not classes of a page: sk-toggleable__label-arrow.
        ("sk-", r"(?!(?:[a-z]{1,12}[-_]{1,2}){1,6}[a-z]{1,12}(?![\w-]))[A-Za-z0-9_-]{16,}"),
    ),
    "stripe-key": (*((name, r"\w{10,}") for name in _STRIPE), ("whsec_", r"[\w+/=]{16,}")),
    "jwt": (("eyJ", r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),),
    "service-token": (
        ("npm_", rf"{_ALNUM}{{30,}}"),
        ("pypi-AgE", r"[\w-]{27,}"),
        ("dckr_", r"(?:pat|oat)_[\w-]{16,}"),
        ("hf_", rf"{_ALNUM}{{24,}}"),
        ("api_org_", rf"{_ALNUM}{{24,}}"),
        ("SG.", r"[\w-]{16,}\.[\w-]{16,}"),
        ("SK", r"[0-9a-fA-F]{32}\b"),
        ("key-", r"[0-9a-f]{32}"),
        ("hv", r"[sbr]\.[\w-]{20,}"),
        ("s.", rf"(?=[A-Za-z]*\d){_ALNUM}{{24}}(?![\w.(-])"),
        ("do", r"[opr]_v1_[0-9a-f]{32,}"),
        ("shp", r"(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}"),
        ("HRKU-", r"[\w-]{30,}"),
        ("AGE-SECRET-KEY-1", r"[0-9A-Z]{30,}"),
        ("dapi", r"[0-9a-f]{32}"),
        ("lin_", r"(?:api|oauth)_\w{30,}"),
        ("glsa_", r"[\w+/=]{30,}"),
        ("glc_", r"[\w+/=]{30,}"),
        ("pul-", r"[0-9a-f]{40}"),
        ("PMAK-", r"[0-9a-f-]{50,}"),
        ("pscale_", r"(?:tkn|pw|oauth)_[\w=.-]{30,}"),
        ("sntry", r"[su]_[\w+/=-]{30,}"),
        ("ATATT3", r"[\w=-]{50,}"),
        ("ATCTT3", r"[\w=-]{50,}"),
        ("ATBB", rf"{_ALNUM}{{24,}}"),
        ("rubygems_", r"[0-9a-f]{40,}"),
        ("xkeysib-", r"[\w-]{50,}"),
        ("xsmtpsib-", r"[\w-]{50,}"),
        ("pplx-", r"\w{40,}"),
        ("gsk_", rf"{_ALNUM}{{40,}}"),
        ("r8_", rf"{_ALNUM}{{30,}}"),
        # xAI, NVIDIA, Fireworks, Together, Cerebras, Tavily, LangSmith, Bedrock.
        ("xai-", r"\w{20,}"),
        ("nvapi-", r"[\w-]{30,}"),
        ("fw_", rf"{_ALNUM}{{20,}}"),
        ("tgp_v1_", r"[\w-]{20,}"),
        ("csk-", rf"{_ALNUM}{{30,}}"),
        ("tvly-", r"[\w-]{20,}"),
        ("lsv2_", r"(?:pt|sk)_\w{30,}"),
        ("ABSK", r"[A-Za-z0-9+/=]{60,}"),
        ("bedrock-api-key-", r"[\w+/=-]{20,}"),
        # Supabase, Tailscale, Figma, Notion, Resend, Neon, 1Password.
        ("sb_secret_", r"[\w-]{16,}"),
        ("sbp_", r"(?:oauth_|v0_)?[0-9a-f]{24,}"),
        ("tskey-", r"[a-z]{3,10}-[\w-]{16,}"),
        ("fig", r"[dou]r?_[\w-]{20,}"),
        ("ntn_", r"\w{30,}"),
        ("secret_", rf"(?=[A-Za-z]*\d){_ALNUM}{{30,}}"),
        ("re_", rf"(?=\w{{0,40}}\d){_ALNUM}{{6,10}}_{_ALNUM}{{16,}}"),
        ("napi_", r"[a-z0-9]{30,}"),
        ("npg_", rf"{_ALNUM}{{10,}}"),
        ("ops_eyJ", r"[\w+/=-]{20,}"),
        ("A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){1,3}"),
        # Airtable, HubSpot, Alibaba, Artifactory, Clojars, Doppler, Dynatrace, EasyPost, Facebook.
        ("pat", rf"(?:{_ALNUM}{{14}}\.[a-f0-9]{{20,}}|-(?:na|eu)\d-[0-9a-f-]{{30,}})"),
        ("LTAI", rf"{_ALNUM}{{16,}}"),
        ("AKCp", rf"{_ALNUM}{{50,}}"),
        ("CLOJARS_", rf"{_ALNUM}{{40,}}"),
        ("dp.", rf"(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{{1,35}}\.)?{_ALNUM}{{30,}}"),
        ("dt0", r"[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{30,}"),
        ("EZ", rf"[AT]K{_ALNUM}{{40,}}"),
        ("EAA", rf"{_ALNUM}{{80,}}"),
        # Fly.io, New Relic, OpenShift, PostHog, Prefect, ReadMe, Render, Netlify, Sonar, Square.
        ("fo1_", r"[\w-]{30,}"),
        ("fm", r"(?:1[ar]|2)_[\w+/=-]{60,}"),
        ("NRAK-", r"[A-Z0-9]{24,}"),
        ("sha256~", r"[\w-]{30,}"),
        ("phx_", rf"{_ALNUM}{{30,}}"),
        ("pnu_", rf"{_ALNUM}{{30,}}"),
        ("rdme_", r"[a-z0-9]{50,}"),
        ("rnd_", rf"{_ALNUM}{{24,}}"),
        ("nfp_", rf"{_ALNUM}{{30,}}"),
        ("sq", r"(?:[aup]_[0-9a-f]{40}|0(?:atp|csp)-[\w-]{20,})"),
        # Sourcegraph, ElevenLabs, Vercel, Contentful, Buildkite, CircleCI, Dropbox, RunPod, Shippo.
        ("sgp_", r"(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}"),
        ("sk_", r"[0-9a-f]{40,}"),
        ("vercel_blob_rw_", r"\w{30,}"),
        ("CFPAT-", r"[\w-]{30,}"),
        ("bkua_", r"[0-9a-f]{30,}"),
        ("CCIPAT_", r"\w{30,}"),
        ("sl.", r"(?:u\.)?[\w-]{80,}"),
        ("rpa_", rf"{_ALNUM}{{30,}}"),
        ("shippo_", r"(?:live|test)_[0-9a-fA-F]{30,}"),
    ),
}
_TOKENS = tuple((kind, *token) for kind, tokens in _KINDS.items() for token in tokens)


def mask_tokens(text: str, words: Collection[str]) -> str:
    """Replace the tokens among the words of a text."""
    joined = " ".join(words)
    for kind, prefix, rest in _TOKENS:
        if prefix in joined:
            text = _token(prefix, rest).sub(partial(mask_match, kind), text)
    return text


@cache
def _token(prefix: str, rest: str) -> re.Pattern[str]:
    # The prefix comes first: it is found much faster than what precedes a word.
    return re.compile(word_pattern(re.escape(prefix), rest))
