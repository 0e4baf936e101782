# SPDX-License-Identifier: Apache-2.0
"""Drives Chromium over its debugging pipe, with nothing but Python's own library.

    with Browser("/usr/bin/chromium") as browser:
        page = browser.open("file:///.../page.html", width=390, dark=True)
        page.evaluate("document.title")
"""

import base64
import fcntl
import json
import os
import select
import signal
import subprocess
import tempfile
import time

WAIT_S = 60


class Browser:
    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-")
        to_browser = [_high(fd) for fd in os.pipe()]
        from_browser = [_high(fd) for fd in os.pipe()]
        # The browser reads from descriptor 3 and writes to 4.
        os.dup2(to_browser[0], 3, inheritable=True)
        os.dup2(from_browser[1], 4, inheritable=True)
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
                "--hide-scrollbars",
                f"--user-data-dir={self._folder.name}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for fd in (3, 4, to_browser[0], from_browser[1]):
            os.close(fd)
        self._write, self._read = to_browser[1], from_browser[0]
        self._bytes = b""
        self._next = 1
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            pass
        finally:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._process.wait(10)
            os.close(self._write)
            os.close(self._read)
            self._folder.cleanup()

    def call(self, method, session=None, **parameters):
        number = self._next
        self._next += 1
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    return event
            self.events.append(self._receive())

    def _receive(self):
        end = time.monotonic() + WAIT_S
        while b"\0" not in self._bytes:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no word from the browser in {WAIT_S} s")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise EOFError("the browser closed its pipe")
            self._bytes += data
        message, _, self._bytes = self._bytes.partition(b"\0")
        return json.loads(message)

    def open(self, url, width, dark, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = "dark" if dark else "light"
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        page.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired", session)
        return page


class Page:
    def __init__(self, browser, target, session):
        self._browser, self._target, self._session = browser, target, session

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests beyond the page itself."""
        found = []
        for event in self._browser.events:
            method, what = event.get("method"), event.get("params", {})
            if event.get("sessionId") != self._session:
                continue
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {what['exceptionDetails']}")
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(f"console: {what['args']}")
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {what['entry']}")
            elif method == "Network.requestWillBeSent" and not _own(what):
                found.append(f"request: {what['request']['url'][:100]}")
        return found

    def screenshot(self, path):
        height = self.evaluate("document.documentElement.scrollHeight")
        width = self.evaluate("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)


def _own(what):
    return what.get("type") == "Document" or what["request"]["url"].startswith("data:")


def _high(fd):
    """The same file under a descriptor from 10 on, out of the way of 3 and 4."""
    copy = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return copy
