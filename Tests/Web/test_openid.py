# SPDX-License-Identifier: Apache-2.0
"""The sign-in page with an identity provider, in Chromium."""
import os
import pathlib
import re
import tempfile
import unittest

from playwright.sync_api import expect

from provider import Provider
from support import PATIENCE, Scene, Server
from test_sign_in import OPENER

expect.set_options(timeout=PATIENCE)


class OpenIDScene(Scene):
    ALGORITHM = "RS256"

    @classmethod
    def setUpClass(cls):
        if cls is OpenIDScene:
            raise unittest.SkipTest("what its subclasses have in common")
        cls.provider = Provider(cls.ALGORITHM)
        cls.addClassCleanup(cls.provider.close)
        with tempfile.NamedTemporaryFile("w", delete=False) as secret:
            secret.write(Provider.SECRET + "\n")
        cls.addClassCleanup(os.remove, secret.name)
        cls.SERVE = ("--openid-issuer", cls.provider.issuer, "--openid-client-id", Provider.CLIENT,
                     "--openid-client-secret-file", secret.name, "--openid-name", "Example ID")
        super().setUpClass()
        cls.provider.redirect = cls.server.url + "/sign-in/callback"

    def sign_in(self, window, user):
        window.get_by_role("button", name="Sign in with Example ID").click()
        window.get_by_label("Who").fill(user)
        window.get_by_role("button", name="Agree").click()

    def opened(self, page, token=None):
        with page.expect_popup() as popup:
            self.run_in(page, OPENER, token=token or self.server.api_token)
        return popup.value

    def picture_of(self, page, name):
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            page.screenshot(path=pathlib.Path(folder, name + ".png"), full_page=True)

    def test_the_page_that_asks_learns_whom_the_provider_signed_in(self):
        names = []
        for user in ("pat", "pat", "anna"):
            page = self.tab(self.person())
            window = self.opened(page)
            self.picture_of(window, "openid")
            with window.expect_event("close"):
                self.sign_in(window, user)
            page.wait_for_function("window.messages.length > 0")
            token = page.evaluate("window.messages[0].data.ckSession")
            names.append(self.run_in(page, """
                const answer = await fetch(`${server}/database/1/${containerIdentifier}/development/public/users/caller`
                    + `?ckAPIToken=${apiToken}&ckWebAuthToken=${webToken}`);
                return (await answer.json()).userRecordName;
            """, webToken=token))
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])
        # The provider's anna is not the server's.
        users = self.server.run("user", "list")
        self.assertRegex(users, "(?m)^anna-2")
        self.assertRegex(users, "(?m)^pat")

    def test_whoever_does_not_agree_is_not_signed_in_and_can_try_again(self):
        page = self.tab(self.person())
        window = self.opened(page)
        self.sign_in(window, "nobody")
        expect(window.get_by_role("alert")).to_have_text(
            re.compile("Example ID did not sign you in"))
        self.assertEqual(page.evaluate("window.messages"), [])
        window.get_by_role("link", name="Try again").click()
        with window.expect_event("close"):
            self.sign_in(window, "mia")
        page.wait_for_function("window.messages.length > 0")


    def test_somebody_without_a_password_looks_after_their_account(self):
        page = self.tab(self.person())
        window = self.opened(page)
        with window.expect_event("close"):
            self.sign_in(window, "lena")
        account = self.person(java_script_enabled=False).new_page()
        account.goto(self.server.url + "/account")
        self.picture_of(account, "account-sign-in")
        self.sign_in(account, "lena")
        account.wait_for_url(self.server.url + "/account")
        expect(account.get_by_role("heading", name="lena")).to_be_visible()
        expect(account.get_by_text("Your account has no password")).to_be_visible()
        self.picture_of(account, "account-without-password")
        account.get_by_role("button", name=re.compile("^End: A web page")).click()
        expect(account.get_by_role("button", name=re.compile("^End: "))).to_have_count(0)
        account.get_by_role("button", name="Sign out").click()
        expect(account.get_by_role("heading", name="Sign in to your account")).to_be_visible()

    def test_an_app_whose_users_come_by_the_provider_alone_asks_for_no_password(self):
        token = re.search("TIDEBELL_API_TOKEN=([0-9a-f]+)",
                          self.server.run("api-token", "create", "--sign-in", "provider"))[1]
        page = self.tab(self.person())
        window = self.opened(page, token)
        expect(window.get_by_label("Password")).to_have_count(0)
        self.picture_of(window, "openid-alone")
        with window.expect_event("close"):
            self.sign_in(window, "tom")
        page.wait_for_function("window.messages.length > 0")


class RSATests(OpenIDScene):
    pass


class CurveTests(OpenIDScene):
    ALGORITHM = "ES256"


if __name__ == "__main__":
    unittest.main()
