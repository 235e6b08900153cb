# SPDX-License-Identifier: Apache-2.0
"""The server's sign-in page in Chromium: what a page that opens it learns, and what no other does."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

from playwright.sync_api import expect

from support import CONTAINER, PATIENCE, Scene, Server

expect.set_options(timeout=PATIENCE)

# Opens the page that a 421 leads to, as any client does, and keeps the messages that come back.
OPENER = """
    const answer = await fetch(`${server}/database/1/${containerIdentifier}/development/private/zones/list`
        + `?ckAPIToken=${token}`);
    const error = await answer.json();
    window.messages = [];
    addEventListener('message', (event) => window.messages.push({ origin: event.origin, data: event.data }));
    window.open(error.redirectURL, '_blank', 'popup,width=480,height=640');
    return { status: answer.status, ...error };
"""


class SignInTests(Scene):
    SERVE = ("--allow-sign-up",)

    def token(self, *options):
        """A new API token with attributes of the sign-in."""
        return re.search("TIDEBELL_API_TOKEN=([0-9a-f]+)",
                         self.server.run("api-token", "create", *options))[1]

    def opened(self, page, token):
        """The window that a page opens for its user to sign in."""
        with page.expect_popup() as popup:
            answer = self.run_in(page, OPENER, token=token)
        self.assertEqual((answer["status"], answer["serverErrorCode"]), (421, "AUTHENTICATION_REQUIRED"))
        return popup.value

    def sign_in(self, window, user="anna", password=Server.PASSWORD):
        window.get_by_label("User name").fill(user)
        window.get_by_label("Password", exact=True).fill(password)
        window.get_by_role("button", name="Sign in", exact=True).click()

    def picture_of(self, page, name):
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            page.screenshot(path=pathlib.Path(folder, name + ".png"), full_page=True)

    def caller(self, page, web_token):
        """The status of a request with a web token."""
        return self.run_in(page, """
            const answer = await fetch(`${server}/database/1/${containerIdentifier}/development/public/users/caller`
                + `?ckAPIToken=${apiToken}&ckWebAuthToken=${webToken}`);
            return answer.status;
        """, webToken=web_token)

    def test_the_page_that_asks_gets_both_keys_and_the_window_closes(self):
        page = self.tab(self.person())
        window = self.opened(page, self.server.api_token)
        expect(window.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(window.get_by_text(self.site.url)).to_be_visible()
        self.picture_of(window, "sign-in")
        with window.expect_event("close"):
            self.sign_in(window)
        page.wait_for_function("window.messages.length > 0")
        [message] = page.evaluate("window.messages")
        self.assertEqual(message["origin"], self.server.url)
        self.assertEqual(set(message["data"]), {"ckSession", "ckWebAuthToken"})
        self.assertEqual(message["data"]["ckSession"], message["data"]["ckWebAuthToken"])
        self.assertEqual(self.caller(page, message["data"]["ckSession"]), 200)

    def test_our_client_signs_in_by_the_page(self):
        page = self.tab(self.person())
        self.run_in(page, """
            const container = await open();
            const button = document.body.appendChild(document.createElement('button'));
            button.textContent = 'Go';
            button.onclick = async () => {
                try { window.user = (await container.signIn()).userRecordName; }
                catch (error) { window.user = String(error); }
            };
        """)
        with page.expect_popup() as popup:
            page.get_by_role("button", name="Go").click()
        self.sign_in(popup.value)
        page.wait_for_function("window.user !== undefined")
        self.assertRegex(page.evaluate("window.user"), "^_")

    def test_a_wrong_password_tells_nobody_and_can_be_tried_again(self):
        page = self.tab(self.person())
        window = self.opened(page, self.server.api_token)
        self.sign_in(window, password="wrong")
        expect(window.get_by_role("alert")).to_have_text("The user name or the password is wrong.")
        self.picture_of(window, "wrong-password")
        self.assertEqual(window.get_by_label("User name").input_value(), "anna")
        self.assertEqual(page.evaluate("window.messages"), [])
        with window.expect_event("close"):
            self.sign_in(window)
        page.wait_for_function("window.messages.length > 0")

    def test_a_page_of_another_origin_is_refused_and_learns_nothing(self):
        page = self.tab(self.person())
        token = self.token("--origin", "https://notes.example")
        window = self.opened(page, token)
        expect(window.get_by_role("heading")).to_have_text("This site may not ask you to sign in")
        self.picture_of(window, "refused")
        self.assertEqual(window.locator("input").count(), 0)
        self.assertEqual(page.evaluate("window.messages"), [])

    def test_a_page_that_hides_where_it_is_learns_nothing(self):
        page = self.tab(self.person())
        page.evaluate("""() => {
            const policy = document.head.appendChild(document.createElement('meta'));
            policy.name = 'referrer';
            policy.content = 'no-referrer';
        }""")
        window = self.opened(page, self.token("--origin", "https://notes.example"))
        with window.expect_event("close"):
            self.sign_in(window)
        self.assertEqual(page.evaluate("window.messages"), [])
        # And where the token names no origin, nobody is asked for a password.
        window = self.opened(page, self.server.api_token)
        expect(window.get_by_role("heading")).to_have_text("It is not known which page asks you to sign in")

    def test_a_named_origin_gets_the_message_without_saying_where_it_is(self):
        page = self.tab(self.person())
        page.evaluate("""() => {
            const policy = document.head.appendChild(document.createElement('meta'));
            policy.name = 'referrer';
            policy.content = 'no-referrer';
        }""")
        window = self.opened(page, self.token("--origin", self.site.url, "--origin", "https://notes.example"))
        self.sign_in(window)
        page.wait_for_function("window.messages.length > 0")
        self.assertEqual(len(page.evaluate("window.messages")), 1)

    def test_a_callback_url_is_called_without_script(self):
        person = self.person(java_script_enabled=False)
        token = self.token("--callback", self.site.url + "/empty?from=tidebell")
        page = person.new_page()
        page.goto(f"{self.server.url}/sign-in?container={CONTAINER}&environment=development&ckAPIToken={token}")
        page.get_by_label("Keep me signed in").check()
        self.sign_in(page, "otto")
        page.wait_for_url(self.site.url + "/empty?from=tidebell&*")
        query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
        self.assertEqual(query["ckSession"], query["ckWebAuthToken"])
        self.assertEqual(self.caller(self.tab(self.person()), query["ckSession"][0]), 200)

    def test_somebody_becomes_a_user_and_looks_after_their_account(self):
        page = self.tab(self.person())
        window = self.opened(page, self.server.api_token)
        window.get_by_role("link", name="Create an account").click()
        self.picture_of(window, "sign-up")
        window.get_by_label("User name").fill("nina")
        window.get_by_label("New password").fill("battery staple")
        with window.expect_event("close"):
            window.get_by_role("button", name="Create an account").click()
        page.wait_for_function("window.messages.length > 0")
        token = page.evaluate("window.messages[0].data.ckSession")
        self.assertEqual(self.caller(page, token), 200)
        account = self.person().new_page()
        account.goto(self.server.url + "/account")
        self.sign_in(account, "nina", "battery staple")
        expect(account.get_by_role("heading", name="nina")).to_be_visible()
        self.picture_of(account, "account")
        account.get_by_role("button", name=re.compile("^End: A web page")).click()
        expect(account.get_by_role("button", name=re.compile("^End: "))).to_have_count(0)
        # A caller is remembered for five seconds; a write is refused at once.
        status = self.run_in(page, """
            const answer = await fetch(`${server}/database/1/${containerIdentifier}/development/private/zones/modify`
                + `?ckAPIToken=${apiToken}&ckWebAuthToken=${webToken}`, { method: 'POST', body: JSON.stringify({
                    operations: [{ operationType: 'create', zone: { zoneID: { zoneName: 'Notes' } } }] }) });
            return answer.status;
        """, webToken=token)
        self.assertEqual(status, 421)

    def test_no_page_is_wider_than_a_phone(self):
        page = self.person(viewport={"width": 360, "height": 740}).new_page()
        for path in ("/", "/reference", "/account", "/device-sign-in", "/share/abcd"):
            page.goto(self.server.url + path)
            self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 360, path)

    def test_a_link_of_the_operator_sets_a_new_password(self):
        self.server.run("user", "add", "mia")
        link = re.search("http://[^ ]*", self.server.run(
            "user", "reset-link", "mia", "--public-url", self.server.url))[0]
        page = self.person(java_script_enabled=False).new_page()
        page.goto(link)
        self.picture_of(page, "new-password")
        page.get_by_label("New password").fill("battery staple")
        page.get_by_role("button", name="Set the password").click()
        expect(page.get_by_role("heading")).to_have_text("The password is set")
        page.get_by_role("link", name="Your account").click()
        self.sign_in(page, "mia", "battery staple")
        expect(page.get_by_role("heading", name="mia")).to_be_visible()
        page.goto(link)
        expect(page.get_by_role("heading")).to_have_text("This link is not valid any more")

    def test_a_device_signs_in_by_a_code(self):
        home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, home)
        login = subprocess.Popen(
            [self.server.binary, "login", "--server", self.server.url, "--container", CONTAINER],
            env={**os.environ, "TIDEBELL_HOME": home, "TIDEBELL_API_TOKEN": self.server.api_token},
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(login.stdout.close)
        self.addCleanup(login.kill)
        lines = [login.stdout.readline() for _ in range(5)]
        url = re.search(r"http://\S+", "".join(lines))[0]
        page = self.person(java_script_enabled=False).new_page()
        page.goto(url.split("?")[0])
        page.get_by_label("Code").fill("bcdfghjk")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("alert")).to_contain_text("No device is waiting with this code")
        self.picture_of(page, "device-unknown")
        code = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)["code"][0]
        # As somebody types it.
        page.get_by_label("Code").fill(code.lower().replace("-", " "))
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading")).to_have_text("Sign in on this device?")
        expect(page.get_by_text(CONTAINER)).to_be_visible()
        self.picture_of(page, "device")
        page.get_by_label("User name").fill("anna")
        page.get_by_label("Password", exact=True).fill("wrong")
        page.get_by_role("button", name="Sign in on the device").click()
        expect(page.get_by_role("alert")).to_have_text("The user name or the password is wrong.")
        page.get_by_label("Password", exact=True).fill(Server.PASSWORD)
        page.get_by_role("button", name="Sign in on the device").click()
        expect(page.get_by_role("heading")).to_have_text("The device is signed in")
        self.assertIn("anna is signed in to", login.stdout.read())
        self.assertEqual(login.wait(), 0)
        page.goto(url)
        expect(page.get_by_role("alert")).to_contain_text("No device is waiting with this code")

    def test_the_pages_can_be_used_by_keyboard_and_on_a_phone(self):
        phone = self.person(viewport={"width": 320, "height": 640}, color_scheme="dark")
        page = self.tab(phone)
        window = self.opened(page, self.server.api_token)
        self.picture_of(window, "sign-in-phone")
        self.assertLessEqual(window.evaluate("document.documentElement.scrollWidth"), 480)
        window.get_by_label("User name").focus()
        window.keyboard.type("anna")
        window.keyboard.press("Tab")
        window.keyboard.type(Server.PASSWORD)
        with window.expect_event("close"):
            window.keyboard.press("Enter")
        page.wait_for_function("window.messages.length > 0")


if __name__ == "__main__":
    unittest.main()
