# SPDX-License-Identifier: Apache-2.0
"""tidebell.js in Chromium, against a server, from a page of another origin."""
import json
import subprocess
import unittest
import urllib.error
import urllib.request

from support import Scene


class ModuleTests(Scene):
    def get(self, path, **headers):
        request = urllib.request.Request(self.server.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.status, error.headers, error.read()

    def test_module_is_served_to_all_origins_and_kept(self):
        status, headers, body = self.get("/tidebell.js")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/javascript; charset=utf-8"))
        self.assertEqual(headers["Access-Control-Allow-Origin"], "*")
        self.assertIn(b"export class Container", body)
        again = self.get("/tidebell.js", **{"If-None-Match": headers["ETag"]})
        self.assertEqual((again[0], again[2], again[1]["ETag"]), (304, b"", headers["ETag"]))

    def test_welcome_page_and_version(self):
        version = json.loads(self.get("/version")[2])
        printed = subprocess.run(
            [self.server.binary, "--version"], text=True, check=True, capture_output=True, timeout=60)
        self.assertEqual(version, {"name": "tidebell", "version": printed.stdout.strip()})
        page = self.tab(self.person())
        page.goto(self.server.url + "/")
        self.assertEqual(page.title(), "Tidebell")
        self.assertIn("It is healthy", page.get_by_role("status").inner_text())
        self.assertIn("Version " + version["version"], page.inner_text("footer"))


class AccountTests(Scene):
    def test_nobody_is_signed_in_at_first(self):
        page = self.tab(self.person())
        self.assertEqual(self.run_in(page, """
            const container = await open();
            return [await container.fetchCurrentUser() ?? null, container.isSignedIn];
        """), [None, False])

    def test_sign_in_with_a_password_lasts_until_sign_out_in_all_tabs(self):
        anna = self.person()
        page, other = self.tab(anna), self.tab(anna)
        self.run_in(other, """
            window.container = await open();
            window.happened = [];
            for (const name of ['signin', 'signout']) {
                container.addEventListener(name, () => happened.push(name));
            }
        """)
        user = self.run_in(page, "return (await (await open('anna')).fetchCurrentUser()).userRecordName")
        self.assertRegex(user, "^_[0-9a-f]{32}$")
        other.wait_for_function("happened.length === 1")
        self.assertEqual(other.evaluate("container.fetchCurrentUser()"), {"userRecordName": user})
        self.run_in(page, "await (await open()).signOut()")
        other.wait_for_function("happened.length === 2")
        self.assertEqual(other.evaluate("[happened, container.isSignedIn]"), [["signin", "signout"], False])

    def test_wrong_password_says_so(self):
        page = self.tab(self.person())
        error = self.run_in(page, """
            const error = await errorOf((await open()).signInWithPassword('anna', 'wrong'));
            return [error instanceof CloudError, error.serverErrorCode, error.status];
        """)
        self.assertEqual(error, [True, "AUTHENTICATION_FAILED", 401])

    def test_token_that_ended_signs_out(self):
        page = self.tab(self.person())
        self.assertEqual(self.run_in(page, """
            const container = await open();
            const error = await errorOf(container.signInWithToken('0'.repeat(64)));
            return [error.serverErrorCode, new URL(error.redirectURL).origin, container.isSignedIn];
        """), ["AUTHENTICATION_REQUIRED", self.server.url, False])

    def test_next_token_of_an_answer_is_used_from_then_on(self):
        page = self.tab(self.person())
        self.run_in(page, "window.container = await open('anna')")
        asked = []

        def renew(route):
            asked.append(route.request.url.split("ckWebAuthToken=")[1])
            route.fulfill(body='{"userRecordName":"_1"}', headers={
                "Access-Control-Allow-Origin": "*", "X-Apple-CloudKit-Web-Auth-Token": "the+next/one=",
                "Access-Control-Expose-Headers": "X-Apple-CloudKit-Web-Auth-Token"})

        page.route("**/users/caller?*", renew)
        for _ in range(2):
            page.evaluate("container.fetchCurrentUser()")
        self.assertEqual(asked[1], "the%2Bnext%2Fone%3D")
        self.assertRegex(asked[0], "^[0-9a-f]{64}$")

    # The page is played: it does what the protocol says of one (web-services 2.2).
    def sign_in_page(self, context, script):
        context.route(self.server.url + "/sign-in?*", lambda route: route.fulfill(
            content_type="text/html", body=f"<!doctype html><script>{script}</script>"))

    def sign_in(self, message):
        context = self.person()
        self.sign_in_page(context, message)
        page = self.tab(context)
        self.run_in(page, """
            window.container = await open();
            document.body.innerHTML = '<button>Sign in</button>';
            document.querySelector('button').onclick = () => {
                window.outcome = container.signIn().then(
                    () => 'signed in', (error) => error.serverErrorCode + ': ' + error.reason);
            };
        """)
        page.get_by_role("button").click()
        return page.evaluate("outcome")

    def test_page_in_a_window_hands_the_token_over(self):
        for key in ("ckWebAuthToken", "ckSession"):
            with self.subTest(key):
                token = json.dumps({key: self.server.web_token})
                self.assertEqual(self.sign_in(f"opener.postMessage({token}, '*')"), "signed in")

    def test_page_in_a_window_says_what_failed(self):
        self.assertEqual(
            self.sign_in("opener.postMessage({errorMessage: 'not today'}, '*')"),
            "SIGN_IN_FAILED: not today")
        self.assertEqual(self.sign_in("window.close()"), "SIGN_IN_FAILED: the window was closed")

    def test_other_windows_sign_nobody_in(self):
        # A message of another origin comes first, and is not listened to.
        token = json.dumps({"ckSession": self.server.web_token})
        context = self.person()
        self.sign_in_page(context, "")
        page = self.tab(context)
        self.run_in(page, """
            window.container = await open();
            document.body.innerHTML = '<button>Sign in</button>';
            document.querySelector('button').onclick = () => {
                window.outcome = container.signIn().then(() => 'signed in', (error) => error.reason);
            };
        """)
        with context.expect_page() as opened:
            page.get_by_role("button").click()
        opened.value.wait_for_url(self.server.url + "/sign-in?*")
        page.evaluate(f"postMessage({token}, '*')")
        opened.value.close()
        self.assertEqual(page.evaluate("outcome"), "the window was closed")

    def test_callback_signs_in_who_asked_for_it_and_leaves_the_url_clean(self):
        context = self.person()
        callback = f"{self.site.url}/empty?a=1&ckWebAuthToken={self.server.web_token}"
        self.sign_in_page(context, f"location.replace({json.dumps(callback)})")
        page = self.tab(context)
        complete = """
            const container = await open();
            const user = await container.completeSignIn();
            return [Boolean(user), container.isSignedIn, location.href];
        """
        # A link that somebody sent signs nobody in.
        page.goto(callback)
        self.assertEqual(self.run_in(page, complete), [False, False, self.site.url + "/empty?a=1"])
        page.goto(self.site.url + "/empty")
        with page.expect_navigation(url=callback):
            self.run_in(page, "(await open()).signInByRedirect()")
        self.assertEqual(self.run_in(page, complete), [True, True, self.site.url + "/empty?a=1"])


class DatabaseTests(Scene):
    def setUp(self):
        self.page = self.tab(self.person())

    def run_as_anna(self, script):
        return self.run_in(self.page, """
            const database = (await open('anna')).privateCloudDatabase;
            const zoneID = 'Zone-' + uuid();
            await database.saveRecordZone(zoneID);
        """ + script)

    def test_records_of_all_types_come_back(self):
        fields = self.run_as_anna("""
            const saved = await database.save({ recordType: 'Kinds', fields: {
                text: { value: 'Grüße 👋' }, whole: { value: 7, type: 'INT64' },
                large: { value: 9007199254740993n }, real: { value: 0.5 },
                when: { value: new Date(1700000000123) }, bytes: { value: new Uint8Array([0, 255, 7]) },
                words: { value: ['a', 'b'] }, days: { value: [new Date(1000)] },
                place: { value: { latitude: 1, longitude: 2 } },
            } }, { zoneID });
            const found = await database.fetchRecord(
                saved.recordName, { zoneID, numbersAsStrings: true });
            return Object.fromEntries(Object.entries(found.fields)
                .map(([name, { value, type }]) => [name, [type, value]]));
        """)
        place = fields.pop("place")
        self.assertEqual((place[0], place[1]["latitude"], place[1]["longitude"]), ("LOCATION", 1, 2))
        self.assertEqual(fields, {
            "text": ["STRING", "Grüße 👋"], "whole": ["INT64", "7"],
            "large": ["INT64", "9007199254740993"], "real": ["DOUBLE", 0.5],
            "when": ["TIMESTAMP", 1700000000123], "bytes": ["BYTES", "AP8H"],
            "words": ["STRING_LIST", ["a", "b"]], "days": ["TIMESTAMP_LIST", [1000]],
        })

    def test_conflict_has_both_records_and_can_be_merged(self):
        self.assertEqual(self.run_as_anna("""
            const first = await database.save(
                { recordType: 'Note', fields: { title: { value: 'one' }, text: { value: 'x' } } }, { zoneID });
            await database.save({ ...first, fields: { title: { value: 'two' } } }, { zoneID });
            const late = { ...first, fields: { text: { value: 'y' } } };
            const error = await errorOf(database.save(late, { zoneID }));
            const merged = await database.save(late, { zoneID, merge: (server, own) => own });
            const forced = await database.save(
                { ...first, fields: { title: { value: 'three' } } }, { zoneID, savePolicy: 'changedKeys' });
            const given = await errorOf(database.save(late, { zoneID, merge: () => undefined }));
            return [
                error.serverErrorCode, error.recordName === first.recordName,
                error.record.fields.text.value, error.serverRecord.fields.title.value,
                merged.fields.title.value + merged.fields.text.value,
                forced.fields.title.value + forced.fields.text.value, given.serverErrorCode,
            ];
        """), ["CONFLICT", True, "y", "two", "twoy", "threey", "CONFLICT"])

    def test_atomic_saves_are_all_or_none_and_others_not(self):
        self.assertEqual(self.run_as_anna("""
            const there = await database.save({ recordType: 'Note', recordName: 'there' }, { zoneID });
            const records = [{ recordType: 'Note', recordName: 'new' }, { recordType: 'Note', recordName: 'there' }];
            const codes = (results) => results.map((result) => result.serverErrorCode ?? 'saved');
            return [
                codes(await database.saveRecords(records, { zoneID })),
                codes(await database.saveRecords(records, { zoneID, atomic: false })),
                codes(await database.fetchRecords(['new', 'none'], { zoneID })),
            ];
        """), [["ATOMIC_ERROR", "EXISTS"], ["saved", "EXISTS"], ["saved", "NOT_FOUND"]])

    def test_queries_go_on_with_a_cursor_and_deletes_are_final(self):
        self.assertEqual(self.run_as_anna("""
            const notes = Array.from({ length: 205 }, (_, index) => ({
                recordType: 'Note', recordName: 'n' + index,
                fields: { title: { value: 'note ' + String(index).padStart(3, '0') } },
            }));
            const saved = await database.saveRecords(notes, { zoneID, atomic: false });
            const query = { recordType: 'Note', sortBy: [{ fieldName: 'title' }] };
            const page = await database.fetchPage(query, { zoneID, resultsLimit: 2 });
            const next = await database.fetchPage(query, { zoneID, resultsLimit: 2, cursor: page.cursor });
            const names = [];
            for await (const record of database.records(query, { zoneID, desiredKeys: [] })) {
                names.push(record.recordName);
            }
            const deleted = await database.deleteRecords(names.slice(0, 203), { zoneID, atomic: false });
            await database.deleteRecord('n203', { zoneID });
            const rest = await database.fetchPage(query, { zoneID });
            return [
                saved.length, titles(page.records), titles(next.records), new Set(names).size,
                deleted.filter((item) => item.deleted).length, titles(rest.records), rest.cursor ?? null,
            ];
        """), [
            205, ["note 000", "note 001"], ["note 002", "note 003"], 205, 203, ["note 204"], None])

    def test_changes_come_by_token(self):
        self.assertEqual(self.run_as_anna("""
            const zones = async (token) => {
                const names = [];
                for (let more = true; more;) {
                    const page = await database.fetchDatabaseChanges(token);
                    names.push(...page.zones.map((zone) => zone.zoneID.zoneName + (zone.deleted ? ' deleted' : '')));
                    [token, more] = [page.syncToken, page.moreComing];
                }
                return [names.map((name) => name.replace(zoneID, 'zone')), token];
            };
            const changes = async (token) => {
                const names = [];
                for await (const page of database.zoneChanges(zoneID, token, { resultsLimit: 2 })) {
                    names.push(...page.records.map((record) => record.recordName + (record.deleted ? ' deleted' : '')));
                    token = page.syncToken;
                }
                return [names, token];
            };
            const [all, before] = await zones();
            for (const recordName of ['a', 'b', 'c']) await database.save({ recordType: 'Note', recordName }, { zoneID });
            const [changed, afterSave] = await zones(before);
            const [first, token] = await changes();
            await database.deleteRecord('b', { zoneID });
            const [second] = await changes(token);
            const wrong = await errorOf(database.fetchZoneChanges(zoneID, 'AAAA'));
            const none = await errorOf(database.fetchZoneChanges('NoZone'));
            await database.deleteRecordZone(zoneID);
            const [deleted] = await zones(afterSave);
            return [all.includes('zone'), changed, first, second, deleted, wrong.serverErrorCode,
                none.serverErrorCode, none.zoneID.zoneName];
        """), [
            True, ["zone"], ["a", "b", "c"], ["b deleted"], ["zone deleted"], "BAD_REQUEST",
            "ZONE_NOT_FOUND", "NoZone"])

    def test_zones_and_subscriptions_are_listed_and_looked_up(self):
        self.assertEqual(self.run_as_anna("""
            const listed = (await database.fetchAllRecordZones()).map((zone) => zone.zoneID.zoneName);
            const [found, missing] = await database.fetchRecordZones([zoneID, 'NoZone']);
            const subscription = await database.saveSubscription({
                subscriptionID: 'sub-' + uuid(), subscriptionType: 'query', firesOn: ['create'],
                query: { recordType: 'Note', filterBy: [] }, notificationInfo: { alertBody: 'New' },
            });
            const again = await database.fetchSubscription(subscription.subscriptionID);
            const all = await database.fetchAllSubscriptions();
            await database.deleteSubscription(subscription.subscriptionID);
            const gone = await errorOf(database.fetchSubscription(subscription.subscriptionID));
            return [listed.includes('_defaultZone') && listed.includes(zoneID), found.zoneID.zoneName === zoneID,
                missing.serverErrorCode, again.notificationInfo.alertBody, again.firesOn,
                all.some((one) => one.subscriptionID === again.subscriptionID), gone.serverErrorCode,
                gone.subscriptionID === again.subscriptionID];
        """), [True, True, "ZONE_NOT_FOUND", "New", ["create"], True, "NOT_FOUND", True])

    def test_files_go_up_and_come_down(self):
        self.assertEqual(self.run_as_anna("""
            const bytes = crypto.getRandomValues(new Uint8Array(60000));
            const saved = await database.save(
                { recordType: 'Picture', fields: { file: { value: new Blob([bytes]) } } }, { zoneID });
            const { fields } = await database.fetchRecord(saved.recordName, { zoneID });
            const file = await database.downloadAsset(fields.file.value, { fileName: 'a b.bin' });
            const back = new Uint8Array(await file.arrayBuffer());
            return [fields.file.type, fields.file.value.size, back.length === bytes.length
                && back.every((byte, index) => byte === bytes[index])];
        """), ["ASSETID", 60000, True])

    def test_public_records_are_read_without_a_user(self):
        name = self.run_in(self.page, """
            const { publicCloudDatabase } = await open('anna');
            return (await publicCloudDatabase.save({ recordType: 'News', fields: { title: { value: 'read me' } } })).recordName;
        """)
        self.assertEqual(self.run_in(self.tab(self.person()), """
            const container = await open();
            const record = await container.publicCloudDatabase.fetchRecord(name);
            const refused = await errorOf(container.privateCloudDatabase.fetchAllRecordZones());
            return [record.fields.title.value, refused.serverErrorCode, refused.status];
        """, name=name), ["read me", "AUTHENTICATION_REQUIRED", 421])

    def test_lost_answer_is_asked_for_again_and_the_write_is_done_once(self):
        lost = []

        def lose(route):
            if len(lost) < 2:
                # The server does it, and the answer is lost.
                route.fetch()
                lost.append(route.request.headers["x-tidebell-request-id"])
                route.abort()
            else:
                lost.append(route.request.headers["x-tidebell-request-id"])
                route.continue_()

        zone = self.run_as_anna("window.container = await open(); return zoneID")
        self.page.route("**/records/modify?*", lose)
        saved = self.run_in(self.page, """
            const saved = await container.privateCloudDatabase.save({ recordType: 'Note' }, { zoneID: zone });
            return Boolean(saved.recordChangeTag);
        """, zone=zone)
        self.assertTrue(saved)
        self.assertEqual((len(lost), len(set(lost))), (3, 1))

    def test_throttled_request_waits_and_the_tries_end(self):
        asked = []

        def throttle(route):
            asked.append(route.request.url)
            route.fulfill(
                status=429, headers={"Access-Control-Allow-Origin": "*", "Retry-After": "1"},
                body=json.dumps({"serverErrorCode": "THROTTLED", "reason": "later", "retryAfter": 0.01}))

        self.run_as_anna("window.container = await open();")
        self.page.route("**/zones/list?*", throttle)
        self.assertEqual(self.run_in(self.page, """
            const error = await errorOf(container.privateCloudDatabase.fetchAllRecordZones());
            return [error.serverErrorCode, error.retryAfter, error.isRetriable, error.reason];
        """), ["THROTTLED", 0.01, True, "later"])
        self.assertEqual(len(asked), 4)

    def test_call_can_be_given_up(self):
        self.run_as_anna("window.container = await open();")
        held = []
        self.page.route("**/zones/list?*", lambda route: held.append(route))
        # Given up once it is under way: a call that is given up at once may never reach the network.
        with self.page.expect_request("**/zones/list?*"):
            self.run_in(self.page, """
                window.giving = new AbortController();
                window.refusal = errorOf(
                    container.privateCloudDatabase.fetchAllRecordZones({ signal: giving.signal }));
            """)
        self.assertEqual(self.run_in(self.page, """
            giving.abort(new Error('enough'));
            return (await refusal).message;
        """), "enough")
        while not held:
            self.page.wait_for_timeout(10)
        held[0].abort()


class PushTests(Scene):
    SUBSCRIBE = """
        window.container = await open('anna');
        await container.privateCloudDatabase.saveRecordZone('Pushed');
        await container.privateCloudDatabase.saveSubscription({
            subscriptionID: 'all', subscriptionType: 'database',
            notificationInfo: { shouldSendContentAvailable: true } });
        window.heard = [];
        window.changes = [];
        window.missed = 0;
        container.addEventListener('notification', (event) => heard.push(event.detail));
        container.addEventListener('notificationsmissed', () => missed += 1);
        container.addEventListener('change', (event) => changes.push(event.detail));
        container.registerForNotifications();
    """

    def save(self, page, name):
        self.run_in(page, """
            const container = window.container ?? await open('anna');
            await container.privateCloudDatabase.save(
                { recordType: 'Note', recordName: name }, { zoneID: 'Pushed' });
        """, name=name)

    def test_every_tab_hears_every_push_one_of_them_polls_and_another_takes_over(self):
        anna, elsewhere = self.person(), self.person()
        polls = []
        anna.on("request", lambda request: "/courier/" in request.url and polls.append(request))
        tabs = [self.tab(anna) for _ in range(3)]
        for tab in tabs:
            self.run_in(tab, self.SUBSCRIBE)
        # The first push may be of what was saved before the token was there; it shows that the poll runs.
        other = self.tab(elsewhere)
        for number in range(5):
            self.save(other, f"first {number}")
            for tab in tabs:
                tab.wait_for_function(f"heard.length > {number}")
        heard = [tab.evaluate("heard.map((one) => one.notificationID)") for tab in tabs]
        self.assertEqual(len(set(heard[0])), len(heard[0]), "no push came twice")
        self.assertEqual(heard, [heard[0]] * 3)
        pushed = tabs[0].evaluate("heard[0]")
        pushed = {name: pushed[name] for name in
                  ("containerIdentifier", "notificationType", "subscriptionID", "databaseScope", "isPruned")}
        self.assertEqual(pushed, {
            "containerIdentifier": "iCloud.org.example.notes", "notificationType": "database",
            "subscriptionID": "all", "databaseScope": "private", "isPruned": False})
        self.assertEqual(len({poll.frame.page for poll in polls}), 1, "one tab polls for all")
        polling = polls[0].frame.page
        rest = [tab for tab in tabs if tab != polling]
        polling.close()
        before = [tab.evaluate("heard.length") for tab in rest]
        self.save(other, "after")
        for tab, count in zip(rest, before):
            tab.wait_for_function(f"heard.length > {count}")
        self.assertEqual(len({poll.url for poll in polls}), 1, "the next tab goes on with the same courier")

    def test_what_a_tab_saves_the_others_hear_as_a_change_and_nobody_as_a_push(self):
        anna, elsewhere = self.person(), self.person()
        tabs = [self.tab(anna) for _ in range(2)]
        for tab in tabs:
            self.run_in(tab, self.SUBSCRIBE)
        self.save(tabs[0], "own")
        tabs[1].wait_for_function("changes.length === 1")
        self.assertEqual(tabs[1].evaluate("changes"), [{
            "databaseScope": "private", "zoneID": {"zoneName": "Pushed"}, "recordNames": ["own"]}])
        # A push of somebody else comes later than one of this would have.
        self.save(self.tab(elsewhere), "mark")
        for tab in tabs:
            tab.wait_for_function("heard.length > 0")
        self.assertEqual([tab.evaluate("heard.length") for tab in tabs], [1, 1])
        self.assertEqual(tabs[0].evaluate("changes"), [])

    def test_tabs_without_locks_take_nothing_from_one_another(self):
        anna, elsewhere = self.person(), self.person()
        # As on a page that was not loaded safely.
        anna.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
        polls = set()
        anna.on("request", lambda request: "/courier/" in request.url
                and polls.add((request.frame.page, request.url)))
        tabs = [self.tab(anna) for _ in range(2)]
        for tab in tabs:
            self.run_in(tab, self.SUBSCRIBE)
        other = self.tab(elsewhere)
        for number in range(3):
            self.save(other, f"no locks {number}")
            for tab in tabs:
                tab.wait_for_function(f"heard.length > {number}")
        self.assertEqual({page for page, _ in polls}, set(tabs))
        self.assertEqual(len({url for _, url in polls}), 2, "each has a courier of its own")

    def test_courier_that_is_gone_is_replaced_and_every_tab_learns_that_pushes_may_be_lost(self):
        anna, elsewhere = self.person(), self.person()
        tab, beside = self.tab(anna), self.tab(anna)
        created = []
        anna.on("request", lambda request: "/tokens/create" in request.url
                and request.method == "POST" and created.append(request))
        held = []
        anna.route("**/courier/*", lambda route: route.continue_() if held else held.append(route))
        polled = []
        anna.on("request", lambda request: "/courier/" in request.url and polled.append(request.url))
        self.run_in(tab, self.SUBSCRIBE)
        while not held:
            tab.wait_for_timeout(50)
        # The tab beside does not poll: the first one has the lock.
        self.run_in(beside, self.SUBSCRIBE)
        gone = {held[0].request.url}
        held[0].fulfill(status=404, headers={"Access-Control-Allow-Origin": "*"}, body="{}")
        # What is saved before there is another courier is for none.
        while not set(polled) - gone:
            tab.wait_for_timeout(50)
        self.save(self.tab(elsewhere), "another courier")
        for one in (tab, beside):
            one.wait_for_function("heard.length > 0")
        self.assertEqual(len(created), 2)
        self.assertEqual([one.evaluate("missed") for one in (tab, beside)], [1, 1])

    def test_after_sign_out_the_next_user_gets_their_own_pushes_alone(self):
        browser, elsewhere = self.person(), self.person()
        tab = self.tab(browser)
        self.run_in(tab, self.SUBSCRIBE)
        self.save(self.tab(elsewhere), "of anna")
        tab.wait_for_function("heard.length > 0")
        before = tab.evaluate("container.clientID")
        self.run_in(tab, """
            await container.signOut();
            await container.signInWithPassword('otto', password);
            await container.privateCloudDatabase.saveRecordZone('Pushed');
            await container.privateCloudDatabase.saveSubscription({
                subscriptionID: 'of otto', subscriptionType: 'database',
                notificationInfo: { shouldSendContentAvailable: true } });
            heard.length = 0;
        """)
        self.save(self.tab(elsewhere), "of anna again")
        self.run_in(self.tab(self.person()), """
            const container = await open('otto');
            await container.privateCloudDatabase.save({ recordType: 'Note', recordName: 'otto' }, { zoneID: 'Pushed' });
        """)
        tab.wait_for_function("heard.length > 0")
        self.assertEqual(
            set(tab.evaluate("heard.map((one) => one.subscriptionID)")), {"of otto"})
        self.assertNotEqual(tab.evaluate("container.clientID"), before, "another user is another device")

    def test_push_tells_all_that_a_query_subscription_asks_for(self):
        self.assertEqual(self.run_in(self.tab(self.person()), """
            return notificationFrom({
                aps: { alert: 'New', badge: 2, sound: 'default', category: 'c' },
                ck: { ce: 2, cid: 'c.d', ckuserid: '_1', nid: 'n', p: 1, qry: {
                    sid: 's', rid: 'r', zid: 'z', zoid: '_1', fo: 2, dbs: 3, af: { title: 'x' } } } });
        """) | {"userInfo": None}, {
            "notificationID": "n", "containerIdentifier": "c.d", "notificationType": "query",
            "subscriptionID": "s", "databaseScope": "shared",
            "zoneID": {"zoneName": "z", "ownerRecordName": "_1"}, "recordName": "r",
            "queryNotificationReason": "update", "recordFields": {"title": "x"}, "alert": "New",
            "badge": 2, "soundName": "default", "category": "c", "isPruned": True, "userInfo": None})


class SharingTests(Scene):
    def test_share_is_resolved_joined_and_written_by_another_user(self):
        anna, otto = self.tab(self.person()), self.tab(self.person())
        url = self.run_in(anna, """
            const database = (await open('anna')).privateCloudDatabase;
            await database.saveRecordZone('Shared');
            const note = await database.save(
                { recordType: 'Note', recordName: 'together', fields: { title: { value: 'ours' } } }, { zoneID: 'Shared' });
            const { share, rootRecord, url } = await database.share(
                { ...note, zoneID: { zoneName: 'Shared' } }, { title: 'Ours', publicPermission: 'READ_WRITE' });
            if (rootRecord.share.recordName !== share.recordName) throw new Error('the root does not name its share');
            return url;
        """)
        self.assertTrue(url.startswith(self.server.url + "/share/"))
        self.assertEqual(self.run_in(otto, """
            const container = await open('otto');
            const [seen, missing] = await container.fetchShareMetadata([url, 'nothing'], { shouldFetchRootRecord: true });
            const [joined] = await container.acceptShares([url]);
            const [zone] = await container.sharedCloudDatabase.fetchAllRecordZones();
            const changes = await container.sharedCloudDatabase.fetchZoneChanges(zone.zoneID);
            const note = changes.records.find((record) => record.recordName === 'together');
            const saved = await container.sharedCloudDatabase.save(
                { ...note, fields: { title: { value: 'of both' } } }, { zoneID: zone.zoneID });
            return [seen.share.fields['cloudkit.title'].value, seen.rootRecord.fields.title.value,
                missing.serverErrorCode, missing.shortGUID, joined.participantStatus, zone.zoneID.zoneName,
                saved.fields.title.value];
        """, url=url), ["Ours", "ours", "NOT_FOUND", "nothing", "ACCEPTED", "Shared", "of both"])
        self.assertEqual(self.run_in(anna, """
            const database = (await open('anna')).privateCloudDatabase;
            return (await database.fetchRecord('together', { zoneID: 'Shared' })).fields.title.value;
        """), "of both")


if __name__ == "__main__":
    unittest.main()
