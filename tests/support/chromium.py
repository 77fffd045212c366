"""A real Chromium for tests: the system's, installed if need be, driven by Playwright."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest


def _program():
    for _ in range(2):
        found = shutil.which("chromium")
        apt = shutil.which("apt-get")
        if found:
            return found
        if os.geteuid() or not apt:
            break
        quiet = {"capture_output": True, "check": False, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run([apt, "update"], **quiet)
        if subprocess.run([apt, "install", "-y", "--no-install-recommends", "chromium"], **quiet).returncode:
            break
    pytest.skip("Chromium is not installed here, and its package can't be installed (apt-get as root is needed)")
    return None


@contextmanager
def chromium():
    """A browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    program = _program()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
