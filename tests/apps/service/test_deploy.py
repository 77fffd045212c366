"""The files of `deploy`: what can be run of them without a container engine is run, the rest is read."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.serving import Server, wait_for

pytestmark = pytest.mark.slow

DEPLOY = Path(__file__).parents[3] / "deploy"


def instruction(name):
    (found,) = re.findall(rf"^{name}\s+(?:CMD\s+)?(\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.M)
    return json.loads(found)


@pytest.mark.slow
def test_the_entry_point_serves_and_the_health_check_sees_it(tmp_path):
    """With the image's own words, in a folder that holds what the compose file mounts."""
    server = Server(tmp_path)
    with (tmp_path / "leastnoise.toml").open("a") as file:
        file.write(f"port = {server.port}\n")
    program, *arguments = instruction("ENTRYPOINT")
    assert program == "/opt/leastnoise/bin/leastnoise"
    python, flag, code = instruction("HEALTHCHECK")
    assert (python, flag) == ("/opt/leastnoise/bin/python", "-c")
    assert "8787" in code
    check = [sys.executable, "-c", code.replace("8787", str(server.port))]
    assert subprocess.run(check, capture_output=True, check=False).returncode != 0
    running = subprocess.Popen([sys.executable, "-m", "leastnoise", *arguments], cwd=tmp_path)
    try:
        wait_for(lambda: subprocess.run(check, capture_output=True, check=False).returncode == 0, 60)
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) in (0, -signal.SIGTERM)


def test_the_image_is_small_and_runs_as_nobody_in_particular():
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^USER 10001$", text, re.M)
    assert text.index("USER 10001") < text.index("ENTRYPOINT")
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    for kept in ignored[2:]:
        assert list(DEPLOY.parent.glob(kept.removeprefix("!"))), kept


def test_only_the_proxy_is_reached_from_outside():
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = told["services"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert told["networks"]["inside"] == {"internal": True}
    for name, each in services.items():
        assert ("outside" in each["networks"]) == (name == "proxy")
        assert set(each.get("secrets", ())) <= set(told["secrets"])
        assert not re.search("PASSWORD(?!_FILE)", json.dumps(each.get("environment", {})))
    assert services["leastnoise"]["read_only"]
    assert services["leastnoise"]["cap_drop"] == ["ALL"]
    for each in services["leastnoise"]["volumes"]:
        assert each.endswith(":ro")
    assert (DEPLOY.parent / "deploy" / "Caddyfile").read_text().split()[-2:] == ["leastnoise:8787", "}"]


def test_systemd_takes_the_unit(tmp_path):
    text = (DEPLOY / "leastnoise.service").read_text()
    assert "ProtectSystem=strict" in text
    program = shutil.which("systemd-analyze")
    if program is None or os.name != "posix":
        pytest.skip("systemd-analyze is not installed here")
    unit = tmp_path / "leastnoise.service"
    unit.write_text(text.replace("/opt/leastnoise/bin/leastnoise", "/bin/true"))
    found = subprocess.run([program, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    wrong = tmp_path / "wrong.service"
    wrong.write_text(text.replace("ProtectHome=yes", "ProtectHome=perhaps"))
    assert subprocess.run([program, "verify", str(wrong)], capture_output=True, text=True, check=False).stderr
