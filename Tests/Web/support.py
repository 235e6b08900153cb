# SPDX-License-Identifier: Apache-2.0
"""A server of its own, a site beside it, and a browser: what the tests of tidebell.js run in."""
import functools
import http.server
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTAINER = "iCloud.org.example.notes"
# A bound that only a failure meets, in ms.
PATIENCE = 180_000


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """`tidebell serve` on a folder of its own, with the users anna and otto."""

    PASSWORD = "correct horse battery"

    def __init__(self, *options):
        self.options = options
        self.binary = os.environ["TIDEBELL"]
        self.folder = tempfile.mkdtemp()
        self.data = str(pathlib.Path(self.folder, "data"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = open(pathlib.Path(self.folder, "log"), "w+")
        self.start()
        first = pathlib.Path(self.data, "first-run.txt").read_text()
        self.api_token = re.search("TIDEBELL_API_TOKEN=([0-9a-f]+)", first)[1]
        self.web_token = re.search("TIDEBELL_WEB_AUTH_TOKEN=([0-9a-f]+)", first)[1]
        for user in ("anna", "otto"):
            self.run("user", "add", user)
            self.run("user", "password", user, "--password-stdin", text=self.PASSWORD + "\n")

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--port", str(self.port), *self.options],
            stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(self.url + "/ready", timeout=10):
                    return
            except OSError:
                time.sleep(0.1)
        self.log.seek(0)
        raise RuntimeError("the server did not start:\n" + self.log.read())

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def close(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder)

    def run(self, *arguments, text=""):
        return subprocess.run(
            [self.binary, *arguments, "--data", self.data], input=text, text=True, check=True,
            capture_output=True, timeout=60).stdout


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the example, and an empty page at /empty."""

    def do_GET(self):
        if not self.path.startswith("/empty"):
            return super().do_GET()
        body = b"<!doctype html><title>Empty</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Site:
    """The site of the example, on another port and so of another origin than the server."""

    def __init__(self):
        handler = functools.partial(Handler, directory=str(ROOT / "Examples" / "Web"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# What is in scope of the scripts that `Scene.run` runs.
PREAMBLE = """
    const { Container, CloudError, notificationFrom } = await import(server + '/tidebell.js');
    /** A container in which somebody is signed in, or nobody. */
    const open = async (user, options) => {
        const container = new Container({ serverURL: server, containerIdentifier, apiToken, ...options });
        if (user && !container.isSignedIn) await container.signInWithPassword(user, password);
        return container;
    };
    /** What a call fails with. */
    const errorOf = async (promise) => {
        try { await promise; } catch (error) { return error; }
        throw new Error('it did not fail');
    };
    const titles = (records) => records.map((record) => record.fields.title.value);
    const uuid = () => crypto.randomUUID();
"""


class Scene(unittest.TestCase):
    """A server, a site and a browser for all tests of a class; every browser context is another person's."""

    # Further options of the server.
    SERVE = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.SERVE)
        cls.addClassCleanup(cls.server.close)
        cls.site = Site()
        cls.addClassCleanup(cls.site.close)
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        # As root, as in a container of CI, Chromium has no sandbox.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        cls.browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", shutil.which("chromium")), args=arguments)
        cls.addClassCleanup(cls.browser.close)

    def person(self, **options):
        """A browser with nothing in its storage."""
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        self.addCleanup(context.close)
        return context

    def tab(self, context, path="/empty"):
        page = context.new_page()
        page.goto(self.site.url + path)
        return page

    def run_in(self, page, script, **values):
        """Runs the body of an async function in a page, with the names of `values` and of PREAMBLE."""
        known = dict(
            server=self.server.url, containerIdentifier=CONTAINER, apiToken=self.server.api_token,
            password=Server.PASSWORD, **values)
        names = ", ".join(known)
        return page.evaluate(
            f"async ({{ {names} }}) => {{ {PREAMBLE} {script} }}", known)
