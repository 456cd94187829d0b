"""A Chromium that a test drives: pages opened, keys and buttons pressed, pictures taken. Over a pipe (DevTools protocol), with
Python's own library alone."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def found():
    """The path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        here_in, to_browser = os.pipe()
        from_browser, here_out = os.pipe()

        def numbered():  # the browser reads from descriptor 3 and writes to 4; these may be one of ours
            read, write = (os.dup(one) for one in (os.dup(here_in), os.dup(here_out)))
            os.dup2(read, 3)
            os.dup2(write, 4)

        words = [program, "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars", "--no-first-run",
                 "--disable-dev-shm-usage", f"--user-data-dir={self.folder / 'driven'}", "--remote-debugging-pipe", "about:blank"]
        if not program.endswith("headless-shell"):
            words.insert(1, "--headless")
        with open(self.folder / "browser.log", "wb") as log:
            self.process = subprocess.Popen(words, preexec_fn=numbered, close_fds=False, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(here_in)
        os.close(here_out)
        self.to, self.out, self.text, self.number, self.session, self.events = to_browser, from_browser, b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(domain + ".enable")

    def close(self):
        self.call("Browser.close")
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def received(self, until):
        while b"\0" not in self.text:
            ready, _, _ = select.select([self.out], [], [], max(0, until - time.monotonic()))
            part = os.read(self.out, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer: " + (self.folder / "browser.log").read_text(errors="replace")[-2000:])
            self.text += part
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session and not method.startswith(("Target.", "Browser.")):
            asked["sessionId"] = self.session
        sent = json.dumps(asked).encode() + b"\0"
        while sent:
            sent = sent[os.write(self.to, sent):]
        until = time.monotonic() + 240
        while True:
            answer = self.received(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event, **having):
        """Waits for an event that says this, if it did not come already."""
        until = time.monotonic() + 240
        while not any(one.get("method") == event and having.items() <= one["params"].items() for one in self.events):
            self.events.append(self.received(until))

    def open(self, page, width, height=900, scheme="light", media="screen", at=""):
        """Opens a file in a window of this size, in a light or dark scheme, as on a screen or on paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri() + at)
        self.wait_for("Page.loadEventFired")

    def complaints(self):
        """What the page's scripts threw since it was opened."""
        self.ask("1")
        return [one["params"]["exceptionDetails"]["exception"].get("description", "?") for one in self.events if one.get("method") == "Runtime.exceptionThrown"]

    def ask(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def press(self, element):
        """A click of the mouse upon what the expression names, where it is seen."""
        x, y = self.ask(f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center', inline: 'center'}}); "
                        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        # What a press sets off may come as a task of its own (hashchange does): that is done when the next picture was drawn.
        self.ask("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def picture(self, name, whole=True):
        """A picture of the window, or of the whole page."""
        clip = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}, "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **clip)["data"]
        pathlib.Path(name).write_bytes(base64.b64decode(data))

    def paper(self, name):
        """The page as it is printed, as a PDF."""
        data = self.call("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)["data"]
        pathlib.Path(name).write_bytes(base64.b64decode(data))
