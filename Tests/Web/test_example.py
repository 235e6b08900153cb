# SPDX-License-Identifier: Apache-2.0
"""Examples/Web in Chromium: two tabs, two people, and what a screen reader and a phone see of it."""
import os
import pathlib
import struct
import unittest
import urllib.parse
import zlib

from playwright.sync_api import expect

from support import CONTAINER, PATIENCE, Scene, Server

expect.set_options(timeout=PATIENCE)


def png(width=40, height=30):
    """A picture of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x0b\x5c\xad" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class ExampleTests(Scene):
    def notes(self, context):
        page = context.new_page()
        self.trouble = getattr(self, "trouble", [])
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        settings = urllib.parse.urlencode({
            "server": self.server.url, "container": CONTAINER, "api-token": self.server.api_token})
        page.goto(f"{self.site.url}/index.html#{settings}")
        return page

    def signed_in(self, context, user):
        page = self.notes(context)
        page.get_by_label("User", exact=True).fill(user)
        page.get_by_label("Password", exact=True).fill(Server.PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", name="All notes")).to_be_visible()
        return page

    def write(self, page, title, text=""):
        page.get_by_role("button", name="New note").click()
        page.get_by_label("Title", exact=True).fill(title)
        page.get_by_label("Text", exact=True).fill(text)
        self.save(page)

    def save(self, page):
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_have_text("Saved")

    def note(self, page, title):
        return page.get_by_role("list").get_by_role("button").filter(has_text=title)

    def picture_of(self, page, name):
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            page.screenshot(path=pathlib.Path(folder, name + ".png"), full_page=True)

    def tearDown(self):
        self.assertEqual(getattr(self, "trouble", []), [], "no script failed")

    def test_two_tabs_and_two_browsers_show_what_one_saves(self):
        anna = self.person()
        here = self.signed_in(anna, "anna")
        there = self.notes(anna)
        expect(there.get_by_role("heading", name="All notes")).to_be_visible()
        elsewhere = self.signed_in(self.person(), "anna")
        self.write(here, "Shopping", "Milk")
        # The other tab of the browser is told by the tab, the other browser by a push.
        expect(self.note(there, "Shopping")).to_be_visible()
        expect(there.get_by_role("status")).to_have_text("Changed in another tab")
        expect(self.note(elsewhere, "Shopping")).to_be_visible()
        expect(elsewhere.get_by_role("status")).to_have_text("Changed on another device")
        # And back: both tabs hear the push, of which one of them received it.
        self.note(elsewhere, "Shopping").click()
        elsewhere.get_by_label("Title", exact=True).fill("Shopping today")
        self.save(elsewhere)
        for page in (here, there):
            expect(self.note(page, "Shopping today")).to_be_visible()
            expect(page.get_by_role("status")).to_have_text("Changed on another device")
        expect(here.get_by_label("Title", exact=True)).to_have_value("Shopping today")
        elsewhere.get_by_role("button", name="Delete").click()
        for page in (here, there):
            expect(self.note(page, "Shopping today")).to_have_count(0)
        expect(here.get_by_role("heading", name="Note", exact=True)).to_be_hidden()

    def test_two_people_write_one_note(self):
        here = self.signed_in(self.person(), "anna")
        self.write(here, "Trip", "By train")
        here.get_by_role("button", name="Share").click()
        link = here.get_by_label("Whoever has this link")
        expect(link).to_be_visible()
        expect(link).to_be_focused()
        self.picture_of(here, "shared")
        other = self.signed_in(self.person(), "otto")
        other.get_by_label("Its link").fill(link.input_value())
        other.get_by_role("button", name="Join").click()
        expect(self.note(other, "Trip")).to_contain_text("shared with you")
        self.note(other, "Trip").click()
        other.get_by_label("Text", exact=True).fill("By boat")
        self.save(other)
        # What was opened is shown anew by the push.
        expect(here.get_by_label("Text", exact=True)).to_have_value("By boat")
        # Both write at once: nothing of it is lost.
        here.get_by_label("Text", exact=True).fill("By bus")
        other.get_by_label("Text", exact=True).fill("On foot")
        self.save(other)
        here.wait_for_function("document.getElementById('list').textContent.includes('On foot')")
        self.save(here)
        for page in (here, other):
            expect(page.get_by_label("Text", exact=True)).to_have_value("On foot\n\nBy bus")

    def test_search_finds_by_the_beginning_of_titles(self):
        page = self.signed_in(self.person(), "anna")
        for title in ("Find me", "Find them", "Other"):
            self.write(page, title)
        page.get_by_label("Titles that begin with").fill("Find")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("status")).to_have_text("2 of your own notes found")
        expect(self.note(page, "Find")).to_have_count(2)
        expect(self.note(page, "Other")).to_have_count(0)

    def test_picture_is_kept(self):
        page = self.signed_in(self.person(), "anna")
        page.get_by_role("button", name="New note").click()
        page.get_by_label("Title", exact=True).fill("With a picture")
        page.get_by_label("Picture", exact=True).set_input_files(
            {"name": "blue.png", "mimeType": "image/png", "buffer": png()})
        self.save(page)
        page.reload()
        self.note(page, "With a picture").click()
        shown = page.get_by_role("img", name="The picture of this note")
        expect(shown).to_be_visible()
        page.wait_for_function("document.getElementById('shown-picture').naturalWidth === 40")

    def test_wrong_password_is_said_and_sign_out_leaves_nothing(self):
        page = self.notes(self.person())
        page.get_by_label("User", exact=True).fill("anna")
        page.get_by_label("Password", exact=True).fill("wrong")
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("That did not work")
        self.picture_of(page, "wrong password")
        page = self.signed_in(self.person(), "anna")
        self.write(page, "Private")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        self.assertNotIn("Private", page.content())

    def test_server_that_is_away_is_said_and_it_goes_on_afterwards(self):
        page = self.signed_in(self.person(), "anna")
        other = self.signed_in(self.person(), "anna")
        self.server.stop()
        page.get_by_role("button", name="New note").click()
        page.get_by_label("Title", exact=True).fill("Written meanwhile")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_have_text("The server cannot be reached.")
        self.server.start()
        self.save(page)
        expect(self.note(other, "Written meanwhile")).to_be_visible()

    def test_it_fits_a_phone_and_is_used_by_keyboard_in_light_and_dark(self):
        for scheme in ("light", "dark"):
            for name, size in (("phone", {"width": 320, "height": 640}), ("wide", {"width": 1100, "height": 800})):
                with self.subTest(scheme=scheme, size=name):
                    context = self.person(viewport=size, color_scheme=scheme)
                    page = self.notes(context)
                    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
                    self.picture_of(page, f"sign-in {scheme} {name}")
                    page.get_by_label("User", exact=True).focus()
                    page.keyboard.type("anna")
                    page.keyboard.press("Tab")
                    page.keyboard.type(Server.PASSWORD)
                    page.keyboard.press("Enter")
                    page.get_by_role("button", name="New note").press("Enter")
                    expect(page.get_by_label("Title", exact=True)).to_be_focused()
                    title = f"A title that is rather long, in {scheme} on {name}"
                    page.keyboard.type(title)
                    page.keyboard.press("Tab")
                    page.keyboard.type("Text\n" * 3 + "x" * 200)
                    self.save(page)
                    expect(self.note(page, title)).to_have_attribute("aria-current", "true")
                    self.picture_of(page, f"notes {scheme} {name}")
                    width = page.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(width, size["width"], "nothing has to be scrolled to the side")
                    self.check_names(page)
                    self.check_contrast(page)

    def check_names(self, page):
        """Whatever can be used has a name, and is large enough for a finger."""
        found = page.evaluate("""() => [...document.querySelectorAll('button, input, textarea')]
            .filter((one) => one.checkVisibility())
            .filter((one) => {
                const name = one.labels?.[0]?.textContent || one.textContent || one.ariaLabel;
                return !name?.trim() || one.getBoundingClientRect().height < 40;
            }).map((one) => one.outerHTML)""")
        self.assertEqual(found, [])

    def check_contrast(self, page):
        """Texts have 4.5 to 1 before what is behind them (WCAG 2.2, 1.4.3)."""
        found = page.evaluate("""() => {
            const light = (colour) => {
                const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
                    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const back = (one) => {
                const colour = getComputedStyle(one).backgroundColor;
                return /, 0\\)$/.test(colour) ? (one.parentElement ? back(one.parentElement) : 'rgb(255, 255, 255)') : colour;
            };
            return [...document.querySelectorAll('h1, h2, p, label, button, input, textarea, small, span')]
                .filter((one) => one.checkVisibility()).map((one) => {
                    const [a, b] = [light(getComputedStyle(one).color), light(back(one))];
                    return [one.outerHTML.slice(0, 60), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
                }).filter(([, contrast]) => contrast < 4.5);
        }""")
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
