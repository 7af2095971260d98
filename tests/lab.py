"""JupyterLab as a person uses it: a server, a headless Chromium and a notebook's page."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from playwright.sync_api import Page, expect, sync_playwright

FINISHED = re.compile(r"\[\d+\]:")  # the prompt of a cell that has run

SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # every cell is in the page
}


def chromium():
    """The browser of the system: Playwright's own download is not needed."""
    for name in (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    raise RuntimeError("Chromium is not installed; `apt-get install chromium` brings it, or CHROMIUM names one.")


@contextmanager
def server(root, home):
    """A JupyterLab server over the folder root; yields its address."""
    for name, value in SETTINGS.items():
        path = home / "config" / "lab" / "user-settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    log = open(home / "lab.log", "ab")
    process = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={root}",
        ],
        stdout=log, stderr=log,
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTERLAB_SETTINGS_DIR": str(home / "config" / "lab" / "user-settings")},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            if process.poll() is not None:
                raise RuntimeError(f"JupyterLab ended: {(home / 'lab.log').read_text()[-2000:]}")
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=2)
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.2)
        else:
            raise RuntimeError("JupyterLab did not answer within a minute")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


@contextmanager
def browser_page():
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        yield page
        browser.close()


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: Page, address: str, path: str, timeout=120_000):
        self.page, self.timeout = page, timeout
        page.goto(f"{address}/lab/tree/{path}?reset")
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.wait_for(timeout=timeout)
        self.idle()

    def idle(self):
        """Waits until there is a kernel and it has nothing to do."""
        expect(self.page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=self.timeout)
        status = self.panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(status).to_be_visible(timeout=self.timeout)

    def cells(self):
        return self.panel.locator(".jp-Notebook .jp-CodeCell")

    def run_all(self):
        self.page.locator('.lm-MenuBar-item:has-text("Run")').first.click()
        self.page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()

    def finished(self):
        """Waits until no cell shows the star of a running one, then until idle."""
        expect(self.panel.locator('.jp-InputPrompt:text-is("[*]:")')).to_have_count(0, timeout=self.timeout)
        self.idle()

    def new_cell(self):
        """A new cell at the end, with the cursor in it."""
        cells = self.panel.locator(".jp-Notebook .jp-Cell")
        count = cells.count()
        for _ in range(5):  # a key that comes while JupyterLab moves its focus is lost
            cells.nth(count - 1).scroll_into_view_if_needed()
            cells.nth(count - 1).locator(".jp-InputPrompt").click()
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("b")
            try:
                expect(cells).to_have_count(count + 1, timeout=3000)
                break
            except AssertionError:
                continue
        cell = cells.nth(count)
        cell.locator(".cm-content").click()
        expect(cell.locator(".cm-content")).to_be_focused()
        return cell

    def answer(self, cell, text):
        """Answers the question that a running cell asks, and waits for the cell's end."""
        box = self.page.locator(".jp-Stdin-input")
        box.fill(text)
        box.press("Enter")
        self.ran(cell)

    def ran(self, cell):
        """Waits until the cell has its number."""
        expect(cell.locator(".jp-InputPrompt")).to_have_text(FINISHED, timeout=self.timeout)

    def run(self, code, wait=True):
        """Writes code into a new cell, runs it and returns the cell."""
        self.new_cell()
        number = self.panel.locator(".jp-Notebook .jp-Cell").count() - 1
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Control+Enter")
        cell = self.panel.locator(".jp-Notebook .jp-Cell").nth(number)
        if wait:
            self.ran(cell)
        return cell

    def edit(self, cell, code):
        """Replaces a cell's text, runs it and waits for its end."""
        cell.locator(".cm-content").click()
        expect(cell.locator(".cm-content")).to_be_focused()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.rerun(cell)

    def rerun(self, cell):
        """Runs a cell again and waits for its end."""
        before = cell.locator(".jp-InputPrompt").inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(cell.locator(".jp-InputPrompt")).not_to_have_text(before, timeout=self.timeout)
        self.ran(cell)

    def complete(self, code):
        """Types code into a new cell, asks for completions and returns the popup."""
        cell = self.new_cell()
        self.page.keyboard.type(code, delay=20)
        expect(cell.locator(".jp-mod-completer-enabled")).to_have_count(1)
        self.page.keyboard.press("Tab")
        popup = self.page.locator(".jp-Completer:not(.lm-mod-hidden)")
        popup.locator(".jp-Completer-item").first.wait_for()
        return popup

    def tooltip(self, code):
        """Types code into a new cell, asks what it is and returns the answer."""
        self.new_cell()
        self.page.keyboard.type(code, delay=20)
        self.page.keyboard.press("Shift+Tab")
        tip = self.page.locator(".jp-Tooltip")
        tip.wait_for()
        return tip

    def interrupt(self):
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("i")
        self.page.keyboard.press("i")

    def restart(self):
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("0")
        self.page.keyboard.press("0")
        self.page.locator(".jp-Dialog button.jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")
        self.idle()

    def shot(self, path):
        self.page.screenshot(path=str(path))
