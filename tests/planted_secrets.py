"""Secrets of many kinds to plant in transcripts; all of them are invented.

They are put together here, so that no scanner of this repository takes them for real.
"""

from dataclasses import dataclass
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_RANDOM = Random(28)


@dataclass(frozen=True, slots=True)
class PlantedSecret:
    """A text with a secret in it, and the secret itself: no eight letters of it may be shown."""

    kind: str
    text: str
    secret: str

    def is_in(self, shown: str) -> bool:
        """Whether a part of the secret is in what is shown."""
        size = min(8, len(self.secret))
        starts = range(0, len(self.secret) - size + 1, 4)
        return any(self.secret[start : start + size] in shown for start in starts)


def _some(count: int, letters: str = ascii_letters + digits) -> str:
    return "".join(_RANDOM.choice(letters) for _ in range(count))


def _hex(count: int) -> str:
    return _some(count, "0123456789abcdef")


def _kinds() -> dict[str, tuple[str, str]]:
    """Return the text of each kind, with ``{}`` for the secret, and the secret."""
    base64 = ascii_letters + digits + "+/"
    return {
        "AWS key id": ("{} is it", "AK" + "IA" + _some(16, ascii_uppercase)),
        "AWS secret key": ('{{"SecretAccessKey": "{}"}}', _some(40, base64)),
        "AWS session token": ('{{"SessionToken": "{}"}}', _some(900, base64)),
        "AWS session token in a shell": ("export AWS_SESSION_TOKEN={}", _some(900, base64)),
        "GitHub": ("{} is it", "gh" + "p_" + _some(36)),
        "GitHub app": ("{} is it", "gh" + "s_" + _some(36)),
        "GitHub fine-grained": ("{} is it", "github" + "_pat_" + _some(82)),
        "GitLab": ("{} is it", "gl" + "pat-" + _some(20)),
        "Slack": ("{} is it", "xo" + "xb-" + _some(11, digits) + "-" + _some(24)),
        "Slack hook": ("https://hooks." + "slack.com/services/{}", "T01234567/B0123/" + _some(24)),
        "Stripe": ("{} is it", "sk" + "_live_" + _some(24)),
        "OpenAI": ("{} is it", "sk" + "-proj-" + _some(60)),
        "Anthropic": ("{} is it", "sk" + "-ant-api03-" + _some(93)),
        "Google key": ("{} is it", "AI" + "za" + _some(35)),
        "Google token": ("{} is it", "ya" + "29." + _some(60)),
        "Google client": ("{} is it", "GOC" + "SPX-" + _some(28)),
        "Azure storage": ("AccountName=x;AccountKey={};EndpointSuffix=y", _some(86, base64) + "=="),
        "Azure signature": ("https://x.example/y?sv=2024&sig={}&se=1", _some(43) + "%3D"),
        "Azure client": ("{} is it", _some(3) + "8" + "Q~" + _some(34)),
        "npm": ("{} is it", "np" + "m_" + _some(36)),
        "npm registry": ("//registry.npmjs.org/:_authToken={}", _some(36)),
        "PyPI": ("{} is it", "py" + "pi-AgEIcHlwaS5vcmc" + _some(80)),
        "Docker": ("{} is it", "dck" + "r_pat_" + _some(27)),
        "Docker login": ('{{"auths": {{"x": {{"auth": "{}"}}}}}}', _some(40)),
        "Hugging Face": ("{} is it", "h" + "f_" + _some(34)),
        "SendGrid": ("{} is it", "S" + "G." + _some(22) + "." + _some(43)),
        "Twilio": ("{} is it", "S" + "K" + _hex(32)),
        "Mailgun": ("{} is it", "ke" + "y-" + _hex(32)),
        "Discord": ("{} is it", "M" + _some(25) + "." + _some(6) + "." + _some(38)),
        "Telegram": ("{} is it", _some(10, digits) + ":A" + "A" + _some(33)),
        "JWT": ("{} is it", "ey" + "J" + _some(20) + ".ey" + "J" + _some(40) + "." + _some(40)),
        "private key": ("{} end", _private_key("RSA ")),
        "OpenSSH key": ("{} end", _private_key("OPENSSH ")),
        "PGP key": ("{} end", _private_key("PGP ", " BLOCK")),
        "PostgreSQL": ("postgres://app:{}@db.example/x", "p@ss" + _some(12)),
        "MongoDB": ("mongodb+srv://app:{}@db.example/x", _some(14)),
        "Redis": ("redis://:{}@cache.example:6379", _some(14)),
        "SSH": ("ssh://deploy:{}@host.example/x", _some(14)),
        "basic header": ("Authorization: Basic {}", _some(24)),
        "bearer header": ("authorization: bearer {}", _some(40)),
        "header of a key": ("X-Api-Key:{}", _some(30) + "1"),
        "cookie": ("Cookie: session={}; theme=dark", _some(40)),
        "curl": ("curl -u bob:{} https://x.example", _some(12)),
        "option": ("deploy --password {} --now", _some(12)),
        "mysql": ("mysql -u root -p{} db", _some(12)),
        "netrc": ("machine x.example login bob password {}", _some(12)),
        "pgpass": ("db.example:5432:app:bob:{}", _some(12)),
        "kubeconfig": ("client-key-data: {}", _some(80) + "1"),
        "Terraform": ("{} is it", _some(14) + ".atlas" + "v1." + _some(64)),
        "Vault": ("{} is it", "hv" + "s." + _some(95)),
        "DigitalOcean": ("{} is it", "do" + "p_v1_" + _hex(64)),
        "Shopify": ("{} is it", "shp" + "at_" + _hex(32)),
        "Heroku": ("HEROKU_API_KEY={}", f"{_hex(8)}-{_hex(4)}-{_hex(4)}-{_hex(4)}-{_hex(12)}"),
        "Datadog": ("DD_APP_KEY={}", _hex(40)),
        "xAI": ("{} is it", "xa" + "i-" + _some(80)),
        "Supabase": ("{} is it", "sb_sec" + "ret_" + _some(31)),
        "Tailscale": ("{} is it", "tsk" + "ey-auth-k" + _some(10) + "CNTRL-" + _some(32)),
        "Figma": ("{} is it", "fi" + "gd_" + _some(40)),
        "Notion": ("{} is it", "sec" + "ret_" + _some(43)),
        "Resend": ("{} is it", "r" + "e_" + _some(8) + "_" + _some(24)),
        "Neon": ("{} is it", "na" + "pi_" + _some(64, ascii_lowercase + digits)),
        "1Password": ("{} is it", "op" + "s_ey" + "J" + _some(250)),
        "New Relic": ("{} is it", "NR" + "AK-" + _some(27, ascii_uppercase)),
        "body of an RSA key": ("{}\nend", "MII" + "EvQIBADANBgkqhkiG9w0BAQEFAASC" + _some(900)),
        "end of a key": (
            "{}\n-----END PRIV" + "ATE KEY-----",
            "\n".join(_some(64, base64) for _ in range(3)),
        ),
        "sshpass": ("sshpass -p '{}' ssh x", _some(12)),
        "docker": ("docker login -u me -p '{}' r.example", "a b;$" + _some(12)),
        "standard input": ("echo '{}' | docker login -u me --password-stdin", _some(12)),
        "SQL": ("CREATE USER bob WITH PASSWORD '{}';", _some(12)),
        "passphrase": ("passphrase: {}", "correct horse battery staple"),
        "age": ("{} is it", "AGE-SEC" + "RET-KEY-1" + _some(58, ascii_uppercase)),
        "password with a quote": ('{{"password": "{}"}}', "it's-" + _some(12)),
        "password with a backslash": ("password: '{}'", "ab\\\\" + _some(12)),
        "password with a dollar": ("DB_PASSWORD={}", "pa$$w0rd-" + _some(12)),
        "password with signs": ("export DB_PASSWORD={}", "a;b&c|(d),<" + _some(12)),
        "password in words": ("export PASSPHRASE='{}'", "correct horse battery staple"),
        "password of letters": ("db:\n  password: {}\n  port: 1", _some(12, ascii_lowercase)),
        "password in XML": ("<db><password>{}</password></db>", _some(12)),
        "password in an attribute": ('<add key="Password" value="{}"/>', _some(12)),
        "password in a list": ('{{"name": "DB_PASSWORD", "value": "{}"}}', _some(12)),
        "password in INI": ("password = {}", _some(12) + "1"),
        "password in code": ('password: str = "{}"', _some(12)),
    }


def _private_key(kind: str, block: str = "") -> str:
    body = "\n".join(_some(64) for _ in range(6))
    name = f"{kind}PRIV" + f"ATE KEY{block}"
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


PLANTED = tuple(
    PlantedSecret(kind, text.format(secret), secret) for kind, (text, secret) in _kinds().items()
)
