"""What the tests share: a kernelspec of the built program, and clients of it.

The tests run the program in build/ (`make build`), through a kernelspec that
`warpbook install --program` writes into a folder of the test run's own: nothing
that the user has installed is used or changed.
"""

import os
import subprocess
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "warpbook"
ARTIFACTS = ROOT / "test-artifacts"
TIMEOUT = 60  # seconds for anything that is not itself about time: the machine may be busy


@pytest.fixture(scope="session", autouse=True)
def kernelspec(tmp_path_factory):
    """Installs the kernelspec for this run and points Jupyter, in this process and below, at it."""
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is not there; `make build` makes it", pytrace=False)
    home = tmp_path_factory.mktemp("jupyter")
    os.environ.update(
        JUPYTER_DATA_DIR=str(home / "data"),
        JUPYTER_CONFIG_DIR=str(home / "config"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        IPYTHONDIR=str(home / "ipython"),
        WARPBOOK_DATA_DIR=str(home / "warpbook"),
        XDG_DATA_HOME=str(home / "share"),
        JUPYTER_PLATFORM_DIRS="1",
    )
    subprocess.run([PROGRAM, "install", "--program", PROGRAM], check=True)
    ARTIFACTS.mkdir(exist_ok=True)
    return home


@pytest.fixture
def kernel():
    """A running kernel: its manager and a ready client."""
    manager, client = start_new_kernel(kernel_name="warpbook", startup_timeout=TIMEOUT)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def client(kernel):
    return kernel[1]


def run(client, code, timeout=TIMEOUT, **options):
    """Executes code; returns the reply's content and the published messages."""
    seen = []
    reply = client.execute_interactive(code, timeout=timeout, output_hook=seen.append, allow_stdin=False, **options)
    return reply["content"], seen


def stdout(messages):
    """What the messages print to standard output."""
    return "".join(
        m["content"]["text"] for m in messages if m["msg_type"] == "stream" and m["content"]["name"] == "stdout"
    )


def results(messages):
    """The text/plain of every result among the messages."""
    return [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"]


def pytest_sessionfinish(session):
    """A skipped test fails the run: whatever a test needs, the run has to bring."""
    skipped = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped")
    if skipped and session.exitstatus == 0:
        session.exitstatus = 1
