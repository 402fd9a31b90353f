"""Passwords on command lines and in SQL, and what only looks like one."""

import json
import shlex

import pytest
from examples import tries
from hypothesis import assume, given
from hypothesis import strategies as st

from compactctl.secrets.mask import mask_secrets
from compactctl.secrets.values import is_reference

PASSWORDS = ("s3cr3tpass", "correct horse battery staple", 'pa$s; w"0rd|!x&y')
COMMANDS = (
    "curl -sSLu admin:{} h",
    'htpasswd -bnBC 10 "" {}',
    "ngrok config add-authtoken {}",
    "cf auth user {}",
    "snmpwalk -v3 -u u -A {} h",
    "rclone config create r sftp host h user u pass {}",
    "kinit bob <<< {}",
    "xfreerdp /u:bob /p:{} /v:h",
    "sshpass -p {} ssh x",
    "sshpass -p {} ssh -p 22 x",
    "sshpass -p{} ssh x",
    "sshpass -v -p {} scp a b:",
    "mysql -uroot -p{} db",
    "mysql -u root -p{} db",
    "mysqldump -p{} db > x.sql",
    "mariadb -h h -p{}",
    "docker login -u me -p {} r.io",
    "docker login -u me -p {}",
    "podman login -p={} quay.io",
    "az login --service-principal -u x -p {} --tenant t",
    "az acr login -n x -p {}",
    "oc login -u dev -p {} https://x",
    "helm registry login -u me -p {} r.io",
    "redis-cli -h h -a {} ping",
    "redis-cli AUTH {}",
    "mongo -u a -p {} db",
    "mongodump --username a -p {}",
    "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "ldapsearch -x -D cn=admin -w {}",
    "openssl rsa -in k -passin pass:{} -out o",
    "openssl enc -aes-256-cbc -pass pass:{} -in x",
    "openssl enc -aes-256-cbc -k {} -in x",
    "openssl passwd -6 {}",
    "smbclient //h/s -U user%{}",
    "smbclient //h/s {} -U user",
    "htpasswd -b /etc/x user {}",
    "htpasswd -bc .htpasswd user {}",
    "htpasswd -cb .htpasswd user {}",
    "htpasswd -nb user {}",
    "htpasswd -nbB -C 10 user {}",
    "kubectl create secret generic db --from-literal=user=bob1 --from-literal=x={}",
    "kubectl create secret generic db --from-literal=x={}",
    "curl -u bob:{} https://x",
    "curl -ubob:{} x",
    "curl -U proxy:{} x",
    "curl --oauth2-bearer {} x",
    "http -a bob:{} x",
    "twine upload -u __token__ -p {} dist/*",
    "lftp -u bob,{} h",
    "ncftpput -u bob -p {} h",
    "sqlcmd -S h -U sa -P {}",
    "unzip -P {} x.zip",
    "zip -P {} x.zip a",
    "7z x -p{} a.7z",
    "7z a -p{} a.7z",
    "unrar x -p{} a.rar",
    "ssh-keygen -t ed25519 -N {} -f k",
    "echo {} | sudo -S apt update",
    "echo {} | docker login -u me --password-stdin",
    "echo {} | sudo -S -k ls",
    "echo -n {} | gh secret set NAME",
    "printf '%s' {} | docker login --password-stdin",
    "sudo -S ls <<< {}",
    "docker login --password-stdin <<< {}",
    "gh auth login --with-token <<< {}",
    "gh secret set NAME --body {}",
    "gh secret set NAME -b {}",
    "vault login {}",
    "vault operator unseal {}",
    "ipmitool -H h -U a -P {} power",
    "mosquitto_pub -h h -u u -P {} -t x",
    "nmcli dev wifi connect ssid password {}",
    "wpa_passphrase ssid {}",
    "rabbitmqctl add_user bob {}",
    "beeline -u jdbc:hive2://x -n u -p {}",
    "cqlsh -u a -p {}",
    "cypher-shell -u neo4j -p {}",
    "useradd -p {} bob",
    "fly secrets set A={} B=x",
)
# What is around the password says how it is quoted.
QUOTED = (
    "openssl pkcs12 -export -passout 'pass:{}'",
    "rpcclient -U 'user%{}' h",
    "kubectl create secret generic db --from-literal='x={}'",
    "curl -u 'bob:{}' https://x",
    'curl --user "bob:{}" https://x',
    "curl -b 'session={}' x",
    "sqlplus scott/{}@db",
    "echo 'root:{}' | chpasswd",
    "CREATE USER bob WITH PASSWORD '{}';",
    "ALTER USER bob PASSWORD '{}';",
    "CREATE USER 'bob'@'%' IDENTIFIED BY '{}';",
    "create user bob identified with mysql_native_password by '{}';",
    'ConvertTo-SecureString "{}" -AsPlainText -Force',
    "ConvertTo-SecureString -String '{}' -AsPlainText",
    'subprocess.run(["sshpass", "-p", "{}", "ssh", "h"])',
    'run(["mysql", "-u", "root", "-p{}"])',
    '["docker", "login", "-u", "me", "-p", "{}"]',
)
NAMED = (
    'psk="{}"',
    "mount -t cifs -o username=u,pass={} //h/s /m",
    "pw: {}",
    "docker login r.io --username me --password '{}'",
    "redis-cli --pass {} ping",
    "kubectl --token {} get pods",
    "kubectl --token={} get pods",
    "curl -H 'X-Api-Key: {}' x",
    "wget --http-password={} x",
    "wget --user=bob --password='{}' x",
    "PGPASSWORD={} psql -h x",
    "PGPASSWORD='{}' psql -h x",
    "MYSQL_PWD={} mysql",
    "export SSHPASS={}",
    "SSHPASS='{}' sshpass -e ssh x",
    "REDISCLI_AUTH={} redis-cli",
    "npm config set //registry.npmjs.org/:_authToken {}",
    "npm config set _password {}",
    "pip install --index-url https://u:{}@h/simple x",
    "RSYNC_PASSWORD={} rsync a b",
    "gpg --batch --passphrase {} -c f",
    "gpg --batch --passphrase '{}' -c f",
    "keytool -genkey -storepass {} -keypass x",
    "keytool -genkey -alias a -storepass '{}'",
    "aws configure set aws_secret_access_key {}",
    "git config --global user.password {}",
    "ENV DB_PASSWORD {}",
    "setx DB_PASSWORD {}",
    "set -gx DB_PASSWORD '{}'",
    "plink -pw {} h",
    "requirepass {}",
    '["deploy", "--password", "{}"]',
    'deploy --password "{}" --now',
    "deploy -password {} --now",
    "consul --token '{}'",
    "mount -t cifs //h/s /m -o username=u,password={}",
    "ansible-playbook -e ansible_become_pass={} x",
    "supabase login --token {}",
    "heroku config:set DB_PASSWORD={}",
    "argocd login h --password {}",
    "echo my passphrase: {}",
    "passphrase: {}",
    "the password is {}",
    "my passphrase is {}",
    "PASSPHRASE='{}'",
    "password: {}",
    "DB_PASS={}",
    "DB_PW={}",
)


def check_masked(text: str, secret: str) -> None:
    """Check that no six letters of a secret are shown, however often it is encoded as JSON."""
    for _ in range(4):
        shown = mask_secrets(f"see\n{text}\nbelow")
        pieces = [secret[index : index + 6] for index in range(len(secret) - 5)]
        assert not [piece for piece in pieces if piece in shown]
        assert mask_secrets(shown) == shown
        text = json.dumps({"command": f"cd x\n{text}\nls", "n": 1})


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_of_a_program_is_masked(command: str, password: str) -> None:
    if '"' not in password:
        check_masked(command.format(f'"{password}"'), password)
    check_masked(command.format(shlex.quote(password)), password)


@pytest.mark.parametrize("command", [*QUOTED, *NAMED])
def test_a_password_in_code_or_behind_a_name_is_masked(command: str) -> None:
    check_masked(command.replace("{}", PASSWORDS[0]), PASSWORDS[0])


@given(
    st.sampled_from(COMMANDS),
    st.text(alphabet="abcXYZ019 .,;:!?#%&|()<>{}$@/+=_^~*-", min_size=6, max_size=30),
)
@tries(300)
def test_no_quoted_password_stays(command: str, password: str) -> None:
    quoted = shlex.quote(password)
    assume(not is_reference(password))
    assume(not quoted.startswith("-"))
    shown = mask_secrets(command.format(quoted))
    assert quoted not in shown
    assert mask_secrets(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p build/out",
        "mysql -e 'select 1'; mkdir -p build",
        "ssh -p 2222 host",
        "docker run -p 80:80 nginx",
        "docker run -p 127.0.0.1:80:80 nginx",
        "docker login r.io && docker run -p 8080:80 x",
        "docker run --name login -p 8080:80 x",
        "ssh login.example.org -p 2222",
        "cp -p file1 file2",
        "mysql -p database_name",
        "mysql -u root -p",
        "mysql -u root -p$MYSQL_PASSWORD db",
        'mysql -u root -p"$MYSQL_PASSWORD" db',
        "mysql -u root -p${MYSQL_PASSWORD} db",
        'sshpass -p "$SSHPASS" ssh -p 2222 host',
        "sshpass -e ssh -p 2222 host",
        "sshpass -f file.txt ssh -p 2222 host",
        "docker login -u me -p $TOKEN r.io",
        'docker login -u me -p "${TOKEN}" r.io',
        "docker login -u me --password-stdin",
        "cat token.txt | docker login -u me --password-stdin",
        "echo $TOKEN | docker login -u me --password-stdin",
        'echo "$TOKEN" | docker login --password-stdin',
        "echo hello | sudo tee /etc/file",
        "date -u +%Y-%m-%dT%H:%M:%SZ",
        "docker run -u 1000:1000 image",
        "docker run --user node:node image",
        "git push -u origin main",
        "git push -u origin main:main",
        "tar -xzpf archive.tar",
        "python -m pytest -p no:cacheprovider tests/unit",
        "pytest -p xdist tests",
        "netstat -anp tcp",
        "lsof -p 12345",
        "ps -p 12345 -o pid",
        "patch -p1 < fix.diff",
        "unzip archive.zip -d out",
        "zip -r archive.zip folder",
        "curl -a upload https://x",
        "redis-cli -h host -p 6379",
        "mongo --port 27017 database",
        "psql -p 5432 -U postgres dbname",
        "ldapsearch -x -b dc=example,dc=org",
        "openssl x509 -in cert.pem -noout",
        "openssl rsa -in key.pem -passin file:pass.txt",
        "openssl rsa -in key.pem -passin env:KEYPASS",
        "htpasswd -c .htpasswd username",
        "kubectl create configmap settings --from-literal=level=debug",
        "kubectl get secrets --token $TOKEN",
        'rsync -av -e "ssh -p 2222" src/ dest/',
        'parser.add_argument("--password", "-p", help="the password")',
        '@click.option("--token", "token_value", help="An API token.")',
        '.option("--api-key <key>", "API key of the service")',
        "--password-stdin reads it",
        "the option -token selects the branch",
        "password is required",
        "the passphrase is stored in the keychain",
        "passphrase: enter it twice",
        "passphrase: the one you use for the key",
        "pwd    ~/dev/project",
        "token: string or number",
        "add_argument('--password', default='')",
        "netstat -p tcp; mysql --version",
        "vault login -method=oidc",
        "zip -P",
        "ffmpeg -pass 1 -i x",
        "passed: 12, failed: 3",
        "tokens: input 300 output 200",
        "pass through the token bucket limiter",
        "--- PASS: TestReader (0.00s)",
        "echo 'export TOKEN' | tee x",
        "user_password('changed by admin')",
        "systemctl --user restart app",
        "net user growth increases",
        "ngrok http 8080",
        "chown -R www-data:www-data x",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    for shown in (text, f"see\n{text}\nbelow", json.dumps({"command": text})):
        assert mask_secrets(shown) == shown


def test_all_passwords_of_a_command_are_masked() -> None:
    text = "kubectl create secret generic db" + " --from-literal=a=abc1 --from-literal=b='d e'"
    assert mask_secrets(text).count("[REDACTED:credential]") == 2
    text = "sshpass -p abc1 ssh -p 22 h; sshpass -p abc2 ssh h; mysql -pabc3 db; mkdir -p abc4"
    shown = mask_secrets(text)
    assert shown.count("[REDACTED:credential]") == 3
    assert "ssh -p 22 h" in shown
    assert shown.endswith("mkdir -p abc4")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("passphrase: correct horse battery staple", "passphrase: *"),
        ("password: correct horse battery staple.", "password: *."),
        ("my passphrase is correct horse battery", "my passphrase is *"),
        ("seed phrase: abandon ability able about", "seed phrase: *"),
        ("mnemonic: " + "you must use that will " * 4 + "zoo\nnext", "mnemonic: *\nnext"),
        ("the password is s3cr3tpass", "the password is *"),
        ("passphrase: enter it twice", None),
        ("the passphrase is stored in the keychain", None),
        ("the password is required here", None),
    ],
)
def test_a_passphrase_is_masked_whole(text: str, shown: str | None) -> None:
    expected = text if shown is None else shown.replace("*", "[REDACTED:credential]")
    assert mask_secrets(text) == expected


@pytest.mark.parametrize(
    "piece",
    [
        *("sshpass -p ", "mysql -pabc ", "docker login ", "openssl -k ", "echo a|", "secrets set "),
        *("htpasswd -b ", "-u a:", "redis-cli AUTH ", "zip -Pabc ", "net -U a%", "password '"),
        *("passphrase is ", "passphrase: correct horse ", "<<< sudo -S ", "--password-stdin "),
        *("curl -b a=", "mysql \\\n", "smbclient //", "identified by ", "--from-literal=a=b "),
    ],
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    # With one step too many per letter, these would take minutes.
    assert len(mask_secrets(piece * (50_000 // len(piece)))) > 0
