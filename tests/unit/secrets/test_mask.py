import json

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from planted_secrets import PLANTED, PlantedSecret

from compactctl.secrets.mask import mask_secrets

# Put together here, so that no scanner of this repository takes them for real.
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIabc\n-----END {0}PRIVATE KEY-----"
LETTERS = "abcdefghij0123456789"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (PEM.format("RSA "), "[REDACTED:private-key]"),
        (PEM.format("").replace("\n", "\\n") + " end", "[REDACTED:private-key] end"),
        (PEM.format("OPENSSH ")[:40], "[REDACTED:private-key]"),
        ("id AKIA" + "ABCDEFGH12345678.", "id [REDACTED:aws-key-id]."),
        ("ghp_" + LETTERS, "[REDACTED:github-token]"),
        ("github_pat_" + LETTERS, "[REDACTED:github-token]"),
        ("sk-" + LETTERS, "[REDACTED:api-key]"),
        ("sk-proj-" + LETTERS, "[REDACTED:api-key]"),
        ("xoxb-" + LETTERS, "[REDACTED:slack-token]"),
        ("postgres://bob:hunter2@db/x", "postgres://bob:[REDACTED:url-password]@db/x"),
        ("Authorization: Bearer " + LETTERS, "Authorization: Bearer [REDACTED:bearer-token]"),
        ('{"password": "hunter22"}', '{"password": "[REDACTED:credential]"}'),
        (r"{\"apiKey\": \"hunter22\"}", r"{\"apiKey\": \"[REDACTED:credential]\"}"),
        ("DB_PASSWORD=swordfish", "DB_PASSWORD=[REDACTED:credential]"),
        ("client_secret: s3cr3tvalue", "client_secret: [REDACTED:credential]"),
        ('{"password": "it\'s \\"so\\""} end', '{"password": "[REDACTED:credential]"} end'),
        ("DB_PASSWORD=pa$$w0rd-123 end", "DB_PASSWORD=[REDACTED:credential] end"),
        ("postgres://app:p@ssw0rd99@db/x", "postgres://app:[REDACTED:url-password]@db/x"),
        ("?access_token=abc123def&x=1", "?access_token=[REDACTED:credential]&x=1"),
    ],
)
def test_a_secret_is_masked_and_what_is_around_it_stays(text: str, shown: str) -> None:
    assert mask_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "token = get_token()",
        "Parser(token=self.token)",
        "def login(user: str, password: str) -> Token: ...",
        "password = os.environ['X']",
        "max_tokens: 10000",
        "the token: it is read once",
        "https://example.com/a:b@c",
        "see sk-learn and AKIA",
        "task-abcdefghij0123456789",
        '"tokens": 1234, "max_tokens": 4096',
        'api_key: "${{ secrets.API_KEY }}"',
        "TOKEN=$(cat token.txt) npm install @scope/name@1.2.3",
        "password: string;",
        "  cancel: CancellationToken,\n  token: CancellationToken",
        "const apiKey = process.env.API_KEY;",
        "--- PASS: TestReader2 (0.00s)",
        "app.py@120: docker run -u 1000:1000",
    ],
)
def test_code_and_prose_about_secrets_stay(text: str) -> None:
    assert mask_secrets(text) == text


@given(st.text(alphabet="ab1 =:\"'\\\n/@-", max_size=60), st.sampled_from(["password", "token"]))
@tries(80)
def test_masking_again_changes_nothing(text: str, name: str) -> None:
    once = mask_secrets(f"{name}{text} {name}={text}")
    assert mask_secrets(once) == once


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_a_secret_is_found_however_it_is_nested(planted: PlantedSecret) -> None:
    text = planted.text
    for _ in range(4):
        assert not planted.is_in(mask_secrets(f"see\n{text}\nthere"))
        text = json.dumps({"command": text, "n": 1})


def test_what_stands_behind_a_value_in_nested_json_stays() -> None:
    text = json.dumps({"password": 'it\'s "so" \\', "n": 1})
    for _ in range(4):
        shown = mask_secrets(text)
        assert "it's" not in shown
        while isinstance(shown, str):
            shown = json.loads(shown)
        assert shown == {"password": "[REDACTED:credential]", "n": 1}
        text = json.dumps(text)


@pytest.mark.parametrize(
    "piece",
    [
        *("'", '"', "\\", "a=", "password=", "password='", 'password="\\', "token ", "token>"),
        *(
            "token=a(",
            "token: a|",
            "a://b:",
            "eyJaaaaaaaa.",
            "login ",
            "mysql ",
            "cookie: a",
            "echo 'x' | ",
            "sk-",
        ),
        *(
            "MIIaaAIBAAKC\n",
            "a" * 64 + "\n",
            "Private-Lines: 1\n",
            "re_1aaaaaa_",
            "fm2_+",
            "aaa1Q~",
        ),
        "-----BEGIN " + "PRIVATE KEY-----",
    ],
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    # With one step too many per letter, these would take minutes.
    text = piece * (100_000 // len(piece))
    assert len(mask_secrets(text)) > 0


def test_many_lines_before_the_end_of_a_key_take_no_longer_than_their_length() -> None:
    text = f"{'a' * 64}\n" * 2_000 + "-----END CERTIFICATE-----\n" + "-----END PRIVATE KEY-----\n"
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    "start",
    [
        *("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "MIIEpAIBAAKCAQEA", "MIGHAgEAMBMGByqGSM49AgEG"),
        *("MHcCAQEEIC5JrdhthG8m", "MIGkAgEBBDC4giRpIrsY", "MC4CAQAwBQYDK2VwBCIEICb5"),
        *("MIIFLTBXBgkqhkiG9w0BBQ0wSjAp", "b3BlbnNzaC1rZXktdjEAAAAA"),
    ],
)
def test_a_private_key_without_its_first_line_is_masked(start: str) -> None:
    lines = [f"{start}{LETTERS}", LETTERS * 3, LETTERS * 2]
    for separator in ("\n", "\r\n", "\n    ", ""):
        text = separator.join(lines)
        for _ in range(3):
            assert LETTERS[:8] not in mask_secrets(f"key:\n  {text}\n")
            assert LETTERS[:8] not in mask_secrets(json.dumps(f"key:\n{text}\n"))
            text = json.dumps({"content": text})


@pytest.mark.parametrize("start", ["MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", "MIIDazCCAlOgAwIBAgIUfV"])
def test_a_public_key_or_certificate_stays(start: str) -> None:
    text = f"-----BEGIN PUBLIC KEY-----\n{start}{LETTERS}\n{LETTERS}\n-----END PUBLIC KEY-----"
    assert mask_secrets(text) == text


MASKED = "[REDACTED:credential]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # Quoted values have four characters or more, and are no references.
        ('password: "abcd"', f'password: "{MASKED}"'),
        ('password: "abc"', None),
        ('password: "${PASSWORD}"', None),
        ('password: "$PASSWORD"', None),
        ('password: "<your password>"', None),
        ("password='abcd efgh' x", f"password='{MASKED}' x"),
        ("password = `abcd`", f"password = `{MASKED}`"),
        ('password: "abcd\nnext', f'password: "{MASKED}\nnext'),
        ('password: "abcd', f'password: "{MASKED}'),
        (r'password: "ab\"cd" x', f'password: "{MASKED}" x'),
        (r"{\"token\": \"a\\\"bcd\"} x", rf"{{\"token\": \"{MASKED}\"}} x"),
        (r'"{\"token\": \"abcd" x', rf'"{{\"token\": \"{MASKED}" x'),
        ("<password>abcd</password>", f"<password>{MASKED}</password>"),
        ("<password> </password>", None),
        ("<password>abcd<b>", None),
        # Assigned ones have six, or four if the name is in capitals.
        ("password=abcdef", f"password={MASKED}"),
        ("password=abcde", None),
        ("PASSWORD=abcd", f"PASSWORD={MASKED}"),
        ("PASSWORD=abc", None),
        ("password=abcdef, x", f"password={MASKED} x"),
        ("password=abcde, x", None),
        ("password=get_password()", None),
        ("password=self.password", None),
        ("password=(abcdef", None),
        ("token=abcdefg&x=1", f"token={MASKED}"),
        ("?token=abcdefg&x=1", f"?token={MASKED}&x=1"),
        ("&token=abcdefg#x", f"&token={MASKED}#x"),
        # After a colon a value must be odd, or all of its line.
        ("token: abcdefg", f"token: {MASKED}"),
        ("token: abcdefg and more", None),
        ("token: abc1efg and more", f"token: {MASKED} and more"),
        ("token: abcDefGhiJklM and more", f"token: {MASKED} and more"),
        ("token: abcDefGhi", None),
        ("token: optional", None),
        ("token: abcdefg # odd", f"token: {MASKED} # odd"),
        ("the token: abcdefg", None),
        ("the password: abcdefg", f"the password: {MASKED}"),
        ("- token: abcdefg", f"- token: {MASKED}"),
        ("x\n  token: abcdefg\ny", f"x\n  token: {MASKED}\ny"),
        (r"x\ntoken: abcdefg\ny", rf"x\ntoken: {MASKED}"),
        # An option has its value behind a blank.
        ("run --token abcd", f"run --token {MASKED}"),
        ("run --token abc", None),
        ("run token abcdefgh", None),
        ("run --token -v", None),
        ("my_token_2=abcdef", f"my_token_2={MASKED}"),
        ("token = [REDACTED:jwt]", None),
        ("keyboard = abcdefgh1", None),
    ],
)
def test_the_value_of_a_name_is_masked_if_it_can_be_a_secret(text: str, shown: str | None) -> None:
    assert mask_secrets(text) == (text if shown is None else shown)


@pytest.mark.parametrize(("length", "masked"), [(199, False), (200, True)])
def test_a_long_value_is_no_reference(length: int, masked: bool) -> None:  # noqa: FBT001
    value = "<" + "a" * (length - 2) + ">"
    assert (MASKED in mask_secrets(f'password: "{value}"')) is masked


def test_several_values_are_masked_and_the_rest_stays() -> None:
    text = 'a password: "abcd" b secret: "efgh" c'
    assert mask_secrets(text) == f'a password: "{MASKED}" b secret: "{MASKED}" c'
    far = "x " * 200 + "token: abcdefg1 y"
    assert mask_secrets(far) == "x " * 200 + f"token: {MASKED} y"


# Everyday text of sources, schemas, help and shells.
EVERYDAY = (
    "password: string;",
    "token: &str,",
    "password: null",
    "nextToken=None",
    "api_key=settings.api_key",
    "client = OpenAI(api_key=api_key)",
    "login(password=user_password, token=token)",
    'fetch(url, { credentials: "include" })',
    "credentials: 'same-origin',",
    '"token": "string",',
    "withCredentials: true",
    "REDIS_AUTH=false",
    '<label for="password">Password:</label>',
    "  --token TEXT  The token of the API.",
    "OLDPWD=/home/dev/project1",
    'PWD="/home/dev/project1"',
    '"pwd": "C:\\\\Users\\\\dev1",',
    "password: %(password)s",
    "password: ********",
    "curl --password xxxxxxxx",
    "TOKEN=$token1 make",
    "Authorization: Bearer <your token>",
    "authorization: `Bearer {token}`",
    "Basic understanding/knowledge-of-things",
    "bearer authentication-is-required",
    'class="sk-toggleable__label-arrow fitted"',
    "pypi-publish-workflow-template-version-2",
    "--counter tiktoken:o200k_base",
    "token = TOKEN_BLOCK_BEGIN",
    "fish --pwd '/home/v/project1'",
    "flags.PWD = *envFlags.PWD",
    "export LANGFUSE_SECRET_KEY=sk-...",
    "- Token: gho_************",
    "GITHUB_TOKEN=[YOUR_TOKEN]",
    "const storageKey = `${storagePrefix}.${key}`;",
    "token_endpoint_auth: McpOauthTokenEndpointAuth",
)


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_text_stays_however_it_is_nested(text: str) -> None:
    for _ in range(3):
        for whole in (text, f"see\n{text}\nthere", f"  {text}"):
            assert mask_secrets(whole) == whole
        text = json.dumps({"content": f"see\n{text}\nthere"})


@pytest.mark.parametrize(
    "text",
    [
        "- name: DB_PASSWORD\n  value: {0}",
        '{{"Key": "password", "Value": "{0}"}}',
        'dbPass: "{0}"',
        "nmap --script-args 'mysqluser=x,mysqlpass={0}'",
        "define('DB_PASSWORD', '{0}');",
        'os.environ.setdefault("API_KEY", "{0}")',
        'System.setProperty("javax.net.ssl.keyStorePassword", "{0}")',
        "Passwort: {0}",
        "Kennwort={0}",
        "contraseña: {0}",
        "senha: {0}",
        "mot de passe : {0}",
        "пароль: {0}",
        "密码\uff1a{0}",
        "X-Vault-Token: s.abcdefghijklmno{0}0",
        "Bearer abcdefgh{0}",
        "sk-or-v1-{0}{0}",
    ],
)
def test_a_secret_is_masked_wherever_it_is_set(text: str) -> None:
    value = "hunter22"
    planted = text.format(value)
    for _ in range(3):
        shown = mask_secrets(f"see\n{planted}\nthere")
        assert value not in shown
        assert mask_secrets(shown) == shown
        planted = json.dumps({"content": planted})
        if not planted.isascii() or "\\u" in planted:
            planted = json.dumps(json.loads(planted), ensure_ascii=False)
