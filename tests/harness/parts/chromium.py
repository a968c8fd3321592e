"""A headless Chromium of its own, driven over the DevTools protocol; ended with the block, its profile with it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.harness.waiting import wait_until

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-proxy-server",
    "--remote-debugging-port=0",
)
_START_WITHIN_S = 60.0
_ANSWER_WITHIN_S = 60.0


def find_chromium() -> str | None:
    """Return the path of a Chromium, None where there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name)) is not None), None)


class Page:
    """One page. What its console says, and what its policy refuses, is kept in ``complaints``."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401 - the protocol's own shapes
        """Send a command and return its result; AssertionError where it is refused."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=_ANSWER_WITHIN_S))
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["params"]["exceptionDetails"])[:2000])
        elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(event["params"]["entry"]["text"])

    def open(self, url: str) -> None:
        """Go to an address and wait until the page is there."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def value(self, script: str) -> Any:  # noqa: ANN401 - whatever the script's value is
        """Return the value of an expression in the page."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait_for(self, script: str, within_s: float = 90.0) -> Any:  # noqa: ANN401 - whatever the script's value is
        """Wait until an expression is true in the page and return its value; AssertionError after the time."""
        return wait_until(lambda: self.value(script), script, within_s=within_s, every_s=0.05)

    def type(self, text: str) -> None:
        """Type into what has the focus, character by character."""
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", text=character, key=character)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def press(self, key: str) -> None:
        """Press a key that has a name, such as Enter."""
        text = {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "Escape": 27, "Tab": 9}.get(key, 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def resize(self, width: int, height: int, *, mobile: bool = False) -> None:
        """Give the page a size in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme: str) -> None:
        """Pretend that the user prefers ``dark`` or ``light``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """Write what is seen as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


class Browser:
    """A running Chromium."""

    def __init__(self, address: str) -> None:
        self._address = address

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Open a page of its own; closed with the block."""
        with connect(self._address, max_size=None, proxy=None) as browser:
            browser.send(json.dumps({"id": 1, "method": "Target.createTarget", "params": {"url": "about:blank"}}))
            while (told := json.loads(browser.recv(timeout=_ANSWER_WITHIN_S))).get("id") != 1:
                pass
            target = told["result"]["targetId"]
            host = self._address.partition("/devtools/")[0]
            with connect(f"{host}/devtools/page/{target}", max_size=None, proxy=None) as socket:
                yield Page(socket)
            browser.send(json.dumps({"id": 2, "method": "Target.closeTarget", "params": {"targetId": target}}))


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """Start a Chromium with a fresh profile."""
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        errors = Path(profile) / "stderr"
        with errors.open("wb") as stderr:
            command = [path, *_FLAGS, f"--user-data-dir={profile}/profile", "about:blank"]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        try:
            yield Browser(_address(errors, process))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(errors: Path, process: subprocess.Popen[bytes]) -> str:
    def said() -> str:
        return errors.read_text(errors="replace")

    def listens() -> re.Match[str] | None:
        found = re.search(r"DevTools listening on (ws://\S+)", said())
        assert found or process.poll() is None, said()[-500:]
        return found

    found = wait_until(listens, lambda: f"chromium did not start: {said()[-500:]}", within_s=_START_WITHIN_S)
    assert found is not None
    return found[1]
