// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// Two people with two devices each, by HTTP and through the whole pipeline.
@Suite("The shared database") struct SharedDatabaseTests {
    @Test(
        "T-12, SUB-8, SUB-56 to 59, SUB-66: sharing, joining, writes both ways and stopping are pushed"
    )
    func scenario() async throws {
        var scene = try await SharedScene()
        // What is in the zone before it is shared, nobody else hears of.
        #expect(try await scene.pushes() == ["anna-pad": 1])
        let guid = try await scene.share()
        #expect(try await scene.pushes() == ["anna-pad": 1])
        let resolved = try await scene.call(
            "ben-phone", "public/records/resolve", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        #expect(resolved.contains(#""participantStatus":"INVITED""#))
        let accepted = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        #expect(accepted.contains(#""participantStatus":"ACCEPTED""#))
        // SUB-58: Ben's other device, and the owner's devices: the share changed.
        #expect(
            try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1, "ben-pad": 1])
        let zone = #""zoneID":{"zoneName":"Lists","ownerRecordName":"\#(scene.anna)"}"#
        let zones = try await scene.call("ben-phone", "shared/changes/database", "{}")
        #expect(zones.contains(#""zoneName":"Lists","ownerRecordName":"\#(scene.anna)""#))
        let changes = try await scene.call(
            "ben-phone", "shared/changes/zone", "{\"zones\":[{\(zone)}]}")
        #expect(changes.contains(#""recordName":"root""#) && changes.contains(#""share":{"#))
        #expect(!changes.contains(#""recordName":"secret""#))
        // SUB-57: a participant's write.
        _ = try await scene.call(
            "ben-phone", "shared/records/modify",
            """
            {\(zone),"operations":[{"operationType":"create","record":{"recordName":"item",\
            "recordType":"Item","fields":{},"parent":{"recordName":"root"}}}]}
            """)
        #expect(
            try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1, "ben-pad": 1])
        // The owner's.
        try await scene.save("root")
        #expect(
            try await scene.pushes() == ["anna-pad": 1, "ben-phone": 1, "ben-pad": 1])
        // What is not shared.
        try await scene.save("secret")
        #expect(try await scene.pushes() == ["anna-pad": 1])
        _ = try await scene.call(
            "anna-phone", "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"share"}}]}
            """)
        #expect(
            try await scene.pushes() == ["anna-pad": 1, "ben-phone": 1, "ben-pad": 1])
        let gone = try await scene.call("ben-phone", "shared/changes/database", "{}")
        #expect(!gone.contains("Lists"))
        // SUB-66: the subscription is Ben's own, and stays.
        let subscriptions = try await scene.call("ben-phone", "shared/subscriptions/list", "{}")
        #expect(subscriptions.contains(#""subscriptionID":"all""#))
    }

    @Test(
        "SHARE-14, SHARE-16, SHARE-17: whoever accepts or leaves and fetches at once sees the zone come and go"
    )
    func fetchedAtOnce() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.pushes()
        let before = try await scene.call("ben-phone", "shared/changes/database", "{}")
        let token = try #require(before.firstMatch(of: /"syncToken":"([^"]+)"/)).1
        let since = #"{"syncToken":"\#(token)"}"#
        #expect(before.contains(#""zones":[]"#))
        // Nothing drains the pipeline: it does not run here by itself.
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        let came = try await scene.call("ben-phone", "shared/changes/database", since)
        #expect(came.contains(#""zoneName":"Lists","ownerRecordName":"\#(scene.anna)""#))
        #expect(
            try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1, "ben-pad": 1])
        let there = try #require(
            try await scene.call("ben-phone", "shared/changes/database", "{}")
                .firstMatch(of: /"syncToken":"([^"]+)"/)
        ).1
        _ = try await scene.call(
            "ben-phone", "shared/records/modify",
            """
            {"zoneID":{"zoneName":"Lists","ownerRecordName":"\(scene.anna)"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"share"}}]}
            """)
        let gone = try await scene.call(
            "ben-phone", "shared/changes/database", #"{"syncToken":"\#(there)"}"#)
        #expect(gone.contains("Lists") && gone.contains(#""deleted":true"#))
        #expect(
            try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1, "ben-pad": 1])
    }

    @Test("PUSH-18: pushes name the receiver's database and the owner of the zone")
    func payloads() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        _ = try await scene.pushes()
        try await scene.save("root")
        let payloads = try await scene.payloads()
        let theirs = try #require(payloads["ben-pad"]?.first)
        #expect(theirs.contains(#""dbs":3"#) && theirs.contains(#""zoid":"\#(scene.anna)""#))
        #expect(payloads["anna-pad"]?.first?.contains(#""dbs":1"#) == true)
    }

    @Test("M8: what an erased owner shared leaves the shared databases, and devices are notified")
    func erasedOwner() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        _ = try await scene.pushes()
        let first = try await scene.call("ben-phone", "shared/changes/database", "{}")
        let token = try #require(first.firstMatch(of: /"syncToken":"([^"]+)"/)).1
        let accounts = scene.api.cloud.accounts
        let anna = try await accounts.remove(named: "me", erasing: .personal)
        let erased = try await accounts.erase(anna)
        // The two records of the list, the one beside it, and the share.
        #expect(erased[.records] == 3 && erased[.zones] == 2 && erased[.users] == 1)
        #expect(try await scene.pushes() == ["ben-phone": 1, "ben-pad": 1])
        let changes = try await scene.call(
            "ben-phone", "shared/changes/database", #"{"syncToken":"\#(token)"}"#)
        #expect(changes.contains("Lists") && changes.contains(#""deleted":true"#))
        #expect(
            try await !scene.call("ben-phone", "shared/changes/database", "{}").contains("Lists"))
        let share = try await scene.api.cloud.store.read { try $0.share(shortGUID: guid) }
        #expect(share == nil)
    }

    @Test("M8: an erased participant is in no share any more, and its owner's devices are notified")
    func erasedParticipant() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        _ = try await scene.pushes()
        let accounts = scene.api.cloud.accounts
        let ben = try await accounts.remove(named: "ben", erasing: .personal)
        #expect(try await accounts.erase(ben)[.users] == 1)
        #expect(try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1])
        let (participants, grants, lost) = try await scene.api.cloud.store.read { reader in
            let located = try #require(try reader.share(shortGUID: guid))
            return (
                located.share.participants,
                try reader.grants(in: located.zone.key, of: nil, after: nil, limit: 10),
                try reader.lostUsers(limit: 10)
            )
        }
        #expect(participants == [] && grants == [] && lost == [])
    }

    @Test(
        "SHARE-21: a request, its answer and a block by Web Services; the owner's devices are notified"
    )
    func accessRequests() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.changeShare(#""participants":[],"denyAccessRequests":false"#)
        _ = try await scene.pushes()
        let asking = #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#
        let answer = #"{"results":[{"shortGUID":{"value":"\#(guid)"}}]}"#
        func ask() async throws -> String {
            try await scene.call("ben-phone", "public/records/requestAccess", asking)
        }
        #expect(try await ask() == answer)
        #expect(try await scene.pushes() == ["anna-phone": 1, "anna-pad": 1])
        #expect(try await ask() == answer)
        #expect(try await scene.pushes() == [:])
        let ben = #"{"userIdentity":{"userRecordName":"\#(scene.ben)"}}"#
        let fetched = try await scene.lookup("share")
        #expect(
            fetched.contains(#""denyAccessRequests":false,"requesters":[\#(ben)],"blocked":[]"#))
        let blocked = try await scene.changeShare(#""requesters":[],"blocked":[\#(ben)]"#)
        #expect(
            blocked.contains(#""denyAccessRequests":false,"requesters":[],"blocked":[\#(ben)]"#))
        _ = try await scene.pushes()
        #expect(try await ask() == answer)
        #expect(try await scene.pushes() == [:])
    }

    @Test("SHARE-20: one-time URLs by Web Services, with the extensions only")
    func oneTimeURL() async throws {
        let scene = try await SharedScene()
        let guid = try await scene.share()
        let saved = try await scene.changeShare(
            #""participants":[{"usesOneTimeURL":true,"permission":"READ_ONLY"}]"#,
            isExtended: true)
        let found = try #require(
            saved.firstMatch(of: /"usesOneTimeURL":true,"oneTimeShortGUID":"([^"]+)"/))
        #expect(found.1.hasPrefix("\(guid)."))
        #expect(try await !scene.lookup("share").contains("neTime"))
        let accepted = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(found.1)"}]}"#)
        #expect(accepted.contains(#""participantStatus":"ACCEPTED""#))
        #expect(accepted.contains(#""shortGUID":{"value":"\#(found.1)"}"#))
        #expect(try await scene.lookup("share").contains(#""userRecordName":"\#(scene.ben)""#))
    }

    @Test("M8, SHARE-21: an erased user has asked for nothing, and is blocked nowhere")
    func erasedOutsiders() async throws {
        let scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.api.cloud.accounts.add(named: "eva")
        let eva = try await scene.api.cloud.accounts.makeWebToken(for: "eva")
        let here = ContainerKey(container: TestAPI.container, environment: .development)
        _ = try await scene.changeShare(
            #""denyAccessRequests":false,"blocked":[{"userIdentity":{"userRecordName":"\#(scene.ben)"}}]"#
        )
        let asked = try await scene.answer(to: "requestAccess", guid, as: eva, in: here)
        #expect(!asked.contains("serverErrorCode"))
        func outsiders() async throws -> [StoredOutsider] {
            try await scene.api.cloud.store.read { try $0.share(shortGUID: guid) }?
                .share.outsiders ?? []
        }
        // In whatever order: that of the numbers of users, which says nothing.
        #expect(try await Set(outsiders().map(\.isBlocked)) == [true, false])
        for name in ["ben", "eva"] {
            let accounts = scene.api.cloud.accounts
            let account = try await accounts.remove(named: name, erasing: .personal)
            #expect(try await accounts.erase(account)[.users] == 1)
        }
        #expect(try await outsiders() == [])
    }

    @Test(
        "H4, SHARE-21: nobody asks for a share of another container, nor learns that there is one")
    func accessFromElsewhere() async throws {
        let scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.changeShare(#""participants":[],"denyAccessRequests":false"#)
        let elsewhere = ContainerKey(
            container: "iCloud.org.example.chess", environment: .production)
        let everywhere = try await scene.api.cloud.accounts.makeWebToken(for: "ben")
        let unknown = String(guid.reversed())
        func ask(_ guid: String) async throws -> String {
            try await scene.answer(to: "requestAccess", guid, as: everywhere, in: elsewhere)
        }
        let answer = try await ask(guid)
        #expect(answer.contains(#""serverErrorCode":"NOT_FOUND""#))
        #expect(try await ask(unknown) == answer.replacing(guid, with: unknown))
        #expect(try await scene.lookup("share").contains(#""requesters":[]"#))
    }

    @Test(
        "H4, SHARE-18: a token of one container reaches no share of another, and nothing says that there is one",
        arguments: ["resolve", "accept"])
    func otherContainers(endpoint: String) async throws {
        let scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        let guid = try await scene.share()
        let elsewhere = ContainerKey(
            container: "iCloud.org.example.chess", environment: .production)
        let invited = try await accounts.makeWebToken(for: "ben")
        let known = try await scene.answer(to: endpoint, guid, as: invited, in: elsewhere)
        #expect(
            known.contains(
                #""participantStatus":"\#(endpoint == "resolve" ? "INVITED" : "ACCEPTED")""#))
        // The same user with a token that is good elsewhere alone, and one who is not invited.
        _ = try await accounts.add(named: "carl")
        let strangers = [
            try await accounts.makeWebToken(for: "ben", in: elsewhere),
            try await accounts.makeWebToken(for: "carl"),
        ]
        let unknown = String(guid.reversed())
        for token in strangers {
            let answer = try await scene.answer(to: endpoint, guid, as: token, in: elsewhere)
            let nothing = try await scene.answer(to: endpoint, unknown, as: token, in: elsewhere)
            #expect(answer.replacing(guid, with: unknown) == nothing)
            #expect(nothing.contains(#""serverErrorCode":"NOT_FOUND""#))
        }
    }

    @Test(
        "SUB-46, SUB-57, SUB-59, SHARE-1: why a change reached a participant's devices or not is explained"
    )
    func explained() async throws {
        var scene = try await SharedScene()
        let guid = try await scene.share()
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        _ = try await scene.pushes()
        let prefix = "  ✗ participant ben (all): "

        // Beside the list, in it, and taken out of it.
        try await scene.save("secret")
        _ = try await scene.pushes()
        let hidden = prefix + "not in what is shared with this participant (SHARE-1)"
        #expect(try await scene.lines(about: "secret") == [hidden])
        #expect(try await scene.lines(about: "secret", of: "ben") == [hidden])
        let json = try await scene.explained(record: "secret")
        #expect(
            String(decoding: JSONWriter.write { json.write(to: &$0) }, as: UTF8.self).contains(
                """
                "participants":[{"user":"ben","subscriptionIDs":["all"],"outcome":"notTaken",\
                "reason":"not in what is shared with this participant","rule":"SHARE-1"}],\
                "hasMoreParticipants":false
                """))
        try await scene.save("item", below: "root")
        _ = try await scene.pushes()
        let number = try await scene.newestChange(in: .shared)
        #expect(
            try await Set(scene.lines(about: "item")) == [
                "  ✓ participant ben (all): it is change \(number) of their "
                    + "shared database (SUB-57)"
            ])
        try await scene.save("item")
        _ = try await scene.pushes()
        let left = try await scene.newestChange(in: .private)
        try await scene.save("item")
        _ = try await scene.pushes()
        let gone = prefix + "not visible to this participant since change \(left) (SHARE-1)"
        #expect(try await scene.lines(about: "item") == [gone])
        #expect(try await scene.lines(about: "item", of: "ben") == [gone])

        // Ben's own change, which his other device gets.
        let zone = #""zoneID":{"zoneName":"Lists","ownerRecordName":"\#(scene.anna)"}"#
        _ = try await scene.call(
            "ben-phone", "shared/records/modify",
            """
            {\(zone),"operations":[{"operationType":"forceUpdate","record":{"recordName":"root",\
            "recordType":"List","fields":{}}}]}
            """)
        #expect(try await scene.pushes()["ben-pad"] == 1)
        let own = try await scene.explanation(about: "root", of: "ben")
        #expect(own.contains("ben-phone  made the change and is not notified (SUB-46)"), "\(own)")

        // Not taken to him yet, and after the end of the share.
        try await scene.save("root")
        #expect(
            try await scene.lines(about: "root") == [
                "  … participant ben (all): it is not in their shared database yet"
            ])
        _ = try await scene.pushes()
        _ = try await scene.call(
            "anna-phone", "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"share"}}]}
            """)
        _ = try await scene.pushes()
        let end = try await scene.newestChange(in: .private)
        let last = try await scene.newestChange(in: .shared)
        #expect(
            try await scene.lines(about: "share") == [
                "  ✓ participant ben (all): it is change \(last) of their shared "
                    + "database (SUB-57)"
            ])
        try await scene.save("root")
        _ = try await scene.pushes()
        #expect(
            try await scene.lines(about: "root", of: "ben") == [
                prefix + "no longer a participant since change \(end) (SUB-59)"
            ])
        #expect(try await scene.lines(about: "root") == [])
    }

    @Test("SUB-40, SHARE-17: who takes part only later, and who asks for no pushes, are told apart")
    func explainedToOthers() async throws {
        var scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        _ = try await accounts.add(named: "dora")
        _ = try await accounts.addAddress("dora@example.org", of: "dora")
        let guid = try await scene.share(
            with: """
                {"lookupInfo":{"userRecordName":"\(scene.ben)"}}},\
                {"userIdentity":{"lookupInfo":{"emailAddress":"dora@example.org"}}
                """)
        _ = try await scene.call(
            "ben-phone", "public/records/accept", #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
        try await scene.save("item", below: "root")
        _ = try await scene.pushes()
        let taken = try await scene.newestChange(in: .shared)
        let dora = try await accounts.makeWebToken(for: "dora")
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        let answer = try await scene.answer(to: "accept", guid, as: dora, in: container)
        #expect(answer.contains(#""participantStatus":"ACCEPTED""#), "\(answer)")
        _ = try await scene.pushes()
        let joined = try await scene.newestChange(in: .private)
        #expect(
            try await Set(scene.lines(about: "item")) == [
                "  ✓ participant ben (all): it is change \(taken) of their shared database (SUB-57)",
                "  ✗ participant dora: became a participant later, by change \(joined) (SHARE-17)",
            ])
        try await scene.save("item", below: "root")
        _ = try await scene.pushes()
        #expect(
            try await scene.lines(about: "item").contains(
                "  ✓ participant dora: it shows in their shared database, where they have no "
                    + "subscription (SUB-40)"))
    }

    @Test(
        "SHARE-16, SHARE-18: a share is accepted over another container's path, in its own container"
    )
    func acceptedElsewhere() async throws {
        let scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        let guid = try await scene.share()
        let elsewhere = ContainerKey(
            container: "iCloud.org.example.chess", environment: .production)
        let invited = try await accounts.makeWebToken(for: "ben")
        // An app's token reaches the containers of the app alone.
        let apiToken = try await accounts.makeAPIToken(named: "chess", for: elsewhere)
        let refused = try await scene.answer(
            to: "accept", guid, as: invited, in: elsewhere, by: apiToken)
        #expect(
            refused.contains(
                "the share is of container '\(TestAPI.container)' (development), where this API "
                    + "token is not good: accept it there"), "\(refused)")
        #expect(try await !scene.call("ben-phone", "shared/zones/list", "{}").contains("Lists"))
        let accepted = try await scene.answer(to: "accept", guid, as: invited, in: elsewhere)
        #expect(
            accepted.contains(#""containerIdentifier":"\#(TestAPI.container)""#)
                && accepted.contains(#""participantStatus":"ACCEPTED""#), "\(accepted)")
        #expect(try await scene.call("ben-phone", "shared/zones/list", "{}").contains("Lists"))
    }

    @Test(
        "ACCT-5, SHARE-18: by an app's token of another container a share is seen, and makes nobody a user of its own"
    )
    func resolvedElsewhere() async throws {
        let scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        _ = try await accounts.add(named: "dora")
        _ = try await accounts.addAddress("dora@example.org", of: "dora")
        let guid = try await scene.share(
            with: """
                {"lookupInfo":{"userRecordName":"\(scene.ben)"}}},\
                {"userIdentity":{"lookupInfo":{"emailAddress":"dora@example.org"}}
                """)
        let elsewhere = ContainerKey(
            container: "iCloud.org.example.chess", environment: .production)
        let apiToken = try await accounts.makeAPIToken(named: "chess", for: elsewhere)
        func resolved(as name: String, by apiToken: String?) async throws -> String {
            let token = try await accounts.makeWebToken(for: name)
            return try await scene.answer(
                to: "resolve", guid, as: token, in: elsewhere, by: apiToken)
        }
        let known = try await resolved(as: "ben", by: apiToken)
        #expect(known.contains(#""participantStatus":"INVITED""#), "\(known)")
        let refused = try await resolved(as: "dora", by: apiToken)
        #expect(
            refused.contains(
                "the share is of container '\(TestAPI.container)' (development), where this API "
                    + "token is not good: accept it there"), "\(refused)")
        let shares = ContainerKey(container: TestAPI.container, environment: .development)
        let isUser = try await scene.api.cloud.store.read { reader in
            try reader.account(named: "dora").flatMap { try reader.user(of: $0, in: shares) } != nil
        }
        #expect(!isUser)
        _ = try await accounts.add(named: "carl")
        #expect(try await resolved(as: "carl", by: apiToken).contains("NOT_FOUND"))
        let seen = try await resolved(as: "dora", by: nil)
        #expect(seen.contains(#""participantStatus":"INVITED""#), "\(seen)")
    }

    @Test(
        "ACCT-5, SHARE-16: who was never in a share's container is its user from resolving or accepting on",
        arguments: ["resolve", "accept"])
    func firstAccess(endpoint: String) async throws {
        let scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        _ = try await accounts.add(named: "dora")
        _ = try await accounts.addAddress("dora@example.org", of: "dora")
        let guid = try await scene.share(
            with: #"{"lookupInfo":{"emailAddress":"dora@example.org"}}"#)
        let elsewhere = ContainerKey(
            container: "iCloud.org.example.chess", environment: .production)
        let account = try await scene.api.cloud.store.read { try $0.account(named: "dora") }
        let shares = ContainerKey(container: TestAPI.container, environment: .development)
        func user() async throws -> StoredUser? {
            let account = try #require(account)
            return try await scene.api.cloud.store.read { try $0.user(of: account, in: shares) }
        }
        _ = try await accounts.add(named: "carl")
        let carl = try await accounts.makeWebToken(for: "carl")
        #expect(
            try await scene.answer(to: endpoint, guid, as: carl, in: elsewhere)
                .contains("NOT_FOUND"))
        #expect(try await user() == nil)
        let dora = try await accounts.makeWebToken(for: "dora")
        let accepted = try await scene.answer(to: endpoint, guid, as: dora, in: elsewhere)
        let status = endpoint == "resolve" ? "INVITED" : "ACCEPTED"
        #expect(accepted.contains(#""participantStatus":"\#(status)""#), "\(accepted)")
        #expect(try await user() != nil)
    }

    @Test("ACCT-5, SHARE-20: also who was never in a share's container accepts by a one-time URL")
    func firstAccessOnce() async throws {
        let scene = try await SharedScene()
        let accounts = scene.api.cloud.accounts
        _ = try await scene.share()
        let saved = try await scene.changeShare(
            #""participants":[{"usesOneTimeURL":true,"permission":"READ_ONLY"}]"#,
            isExtended: true)
        let here = ContainerKey(container: TestAPI.container, environment: .development)
        let found = try #require(saved.firstMatch(of: /"oneTimeShortGUID":"([^"]+)"/))
        var answers: [Bool] = []
        for name in ["dora", "carl"] {
            _ = try await accounts.add(named: name)
            let token = try await accounts.makeWebToken(for: name)
            answers.append(
                try await scene.answer(to: "accept", String(found.1), as: token, in: here)
                    .contains(#""participantStatus":"ACCEPTED""#))
        }
        #expect(answers == [true, false])
    }
}

/// Anna's and Ben's devices, which all subscribe to the databases they have.
private struct SharedScene {
    let api: TestAPI
    let anna: String
    let ben: String
    private let tokens: [String: String]
    /// How far each user's log was looked at.
    private var seen: [String: NotificationSequence] = [:]

    init() async throws {
        let api = try await TestAPI()
        self.api = api
        anna = api.user
        _ = try await api.cloud.accounts.add(named: "ben")
        let bensToken = try await api.cloud.accounts.makeWebToken(for: "ben")
        tokens = ["anna": api.webToken, "ben": bensToken]
        let caller = try await api.send(
            "GET",
            TestAPI.target("public/users/caller", apiToken: api.apiToken, webToken: bensToken))
        ben = try JSONReader.read(Array(caller.text.utf8)) { try CallerResponse(from: &$0) }
            .userRecordName
        try await api.makeZone("Lists")
        for (device, scope) in [
            ("anna-phone", "private"), ("anna-pad", "private"), ("ben-phone", "shared"),
            ("ben-pad", "shared"),
        ] {
            _ = try await call(device, nil, "notifications/ack", #"{"cursor":"0"}"#)
            guard device.hasSuffix("phone") else { continue }
            _ = try await call(
                device, "\(scope)/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
                "subscriptionType":"database",\
                "notificationInfo":{"shouldSendContentAvailable":true}}}]}
                """)
        }
        try await save("root")
        _ = try await pushes()
        try await save("secret")
    }

    /// Calls an endpoint of a database, or of `/ext`, as a device; fails where it is refused.
    @discardableResult
    func call(
        _ device: String, _ path: String, _ body: String, isExtended: Bool = false
    ) async throws -> String {
        try await call(device, path, "", body, isExtended: isExtended)
    }

    private func call(
        _ device: String, _ path: String?, _ ext: String, _ body: String,
        isExtended: Bool = false
    ) async throws -> String {
        let token = tokens[String(device.prefix { $0 != "-" })] ?? ""
        let base =
            path.map { TestAPI.target($0, apiToken: api.apiToken, webToken: token) }
            ?? "/ext/1/\(TestAPI.container)/development/\(ext)?ckAPIToken=\(api.apiToken)"
            + "&ckWebAuthToken=\(token)"
        let answer = try await api.send(
            "POST", "\(base)&clientId=\(device)", body,
            headers: isExtended ? ["X-Tidebell-Extensions": "1"] : [:])
        #expect(
            answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
        return answer.text
    }

    /// What a caller gets for a share in a container; of its error without what differs each time.
    func answer(
        to endpoint: String, _ guid: String, as webToken: String, in container: ContainerKey,
        by apiToken: String? = nil
    ) async throws -> String {
        let answer = try await api.send(
            "POST",
            "/database/1/\(container.container)/\(container.environment.rawValue)/public/records/"
                + "\(endpoint)?ckAPIToken=\(apiToken ?? api.apiToken)&ckWebAuthToken=\(webToken)",
            #"{"shortGUIDs":[{"value":"\#(guid)","shouldFetchRootRecord":true}]}"#
        )
        return answer.text.replacing(/"uuid":"[^"]*"/, with: "")
    }

    func save(_ name: String, below parent: String? = nil) async throws {
        api.clock.advance(by: .milliseconds(1))
        let parent = parent.map { #","parent":{"recordName":"\#($0)"}"# } ?? #","parent":null"#
        try await call(
            "anna-phone", "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"\(name)","recordType":"List","fields":{}\(parent)}}]}
            """)
    }

    /// What the newest change of a record is explained by, to all or to one user.
    func explained(record: String, of user: String? = nil) async throws -> PushExplanation {
        var query = PushExplanation.Query()
        query.recordName = record
        query.userName = user
        // Ben's shared database has changes of its own.
        if user == nil { query.scope = .private }
        query.last = 1
        return try await api.cloud.store.read { [query] in
            try PushExplanation.explain(query, in: $0)
        }
    }

    /// The same as text.
    func explanation(about record: String, of user: String? = nil) async throws -> String {
        try await explained(record: record, of: user).text
    }

    /// What the explanation says of participants.
    func lines(about record: String, of user: String? = nil) async throws -> [String] {
        try await explanation(about: record, of: user).split(separator: "\n").map(String.init)
            .filter { $0.contains(#/^  . participant /#) }
    }

    /// The number of the newest change that is kept of Anna's private database, or of Ben's shared
    /// one.
    func newestChange(in scope: DatabaseScope) async throws -> Int64 {
        var query = KeptChangeQuery()
        query.scope = scope
        return try await api.cloud.store.read { [query] reader in
            try #require(try reader.keptChanges(query, limit: 1).first).entry.id.position.rawValue
        }
    }

    /// Anna shares the root with Ben, or somebody else; returns the last part of the URL.
    func share(with identity: String? = nil) async throws -> String {
        let identity = identity ?? #"{"lookupInfo":{"userRecordName":"\#(ben)"}}"#
        let answer = try await call(
            "anna-phone", "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"update",\
            "record":{"recordName":"root","recordChangeTag":"\(try await tag("root"))",\
            "createShortGUID":true,"fields":{}}},{"operationType":"create",\
            "record":{"recordName":"share","recordType":"cloudkit.share",\
            "forRecord":{"recordName":"root"},"fields":{},"participants":[{"userIdentity":\
            \(identity),"permission":"READ_WRITE"}]}}]}
            """)
        let guids = answer.matches(of: /"shortGUID":"([^"]+)"/).map { String($0.1) }
        #expect(Set(guids).count == 1)
        return try #require(guids.first)
    }

    /// Anna changes her share; returns the answer.
    func changeShare(_ members: String, isExtended: Bool = false) async throws -> String {
        try await call(
            "anna-phone", "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"update",\
            "record":{"recordName":"share","recordChangeTag":"\(try await tag("share"))",\
            "fields":{},\(members)}}]}
            """,
            isExtended: isExtended)
    }

    /// What Anna gets of one of her records.
    func lookup(_ name: String) async throws -> String {
        try await call(
            "anna-phone", "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Lists"},"records":[{"recordName":"\(name)"}]}
            """)
    }

    private func tag(_ name: String) async throws -> String {
        let answer = try await lookup(name)
        return String(try #require(answer.firstMatch(of: /"recordChangeTag":"([^"]+)"/)).1)
    }

    /// How many pushes each device is sent since it was asked last, without those that are sent
    /// none.
    mutating func pushes() async throws -> [String: Int] {
        try await payloads().mapValues(\.count).filter { $0.value > 0 }
    }

    /// The payloads of the same.
    mutating func payloads() async throws -> [String: [String]] {
        _ = try await api.cloud.pipeline.drain()
        var payloads: [String: [String]] = [:]
        for (name, recordName) in [("anna", anna), ("ben", ben)] {
            let start = seen[name] ?? .start
            let (found, head) = try await api.cloud.store.read { reader in
                let container = ContainerKey(
                    container: TestAPI.container, environment: .development)
                guard let user = try reader.user(recordName: recordName, in: container) else {
                    return ([String: [String]](), NotificationSequence.start)
                }
                var found: [String: [String]] = [:]
                for device in ["\(name)-phone", "\(name)-pad"] {
                    found[device] = try reader.notifications(
                        for: user.id, after: start, excludingOrigin: device, limit: 100
                    ).map { String(decoding: $0.payload, as: UTF8.self) }
                }
                return (found, try reader.notificationHead(of: user.id))
            }
            payloads.merge(found) { _, new in new }
            seen[name] = head
        }
        return payloads
    }
}
