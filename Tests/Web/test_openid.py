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

    def opened(self, page):
        with page.expect_popup() as popup:
            self.run_in(page, OPENER, token=self.server.api_token)
        return popup.value

    def test_the_page_that_asks_learns_whom_the_provider_signed_in(self):
        names = []
        for user in ("pat", "pat", "anna"):
            page = self.tab(self.person())
            window = self.opened(page)
            folder = os.environ.get("SCREENSHOTS")
            if folder:
                window.screenshot(path=pathlib.Path(folder, "openid.png"), full_page=True)
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


class RSATests(OpenIDScene):
    pass


class CurveTests(OpenIDScene):
    ALGORITHM = "ES256"


if __name__ == "__main__":
    unittest.main()
