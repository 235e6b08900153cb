// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct KnownAccountsTests {
    static let container = "iCloud.notes"

    /// What a device learns.
    enum Event: Sendable {
        case follow, followOnlyContainer
        /// The file of `tidebell login` holds sessions of these users, with these tokens.
        case file([(user: String, token: String)])
        case damagedFile
        case standing(AccountStanding, of: String)
        case renew(String, by: String)
        case signIn(String, token: String)
        case signOut

        static func file(_ user: String, _ token: String) -> Event { .file([(user, token)]) }
    }

    /// A story, as what is learned, what is done about it, and who is signed in then.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var token: String?
        var hasFile = true
        var steps: [(Event, KnownAccounts.Action, who: String)]

        init(
            _ name: String, token: String? = nil, hasFile: Bool = true,
            _ steps: [(Event, KnownAccounts.Action, who: String)]
        ) {
            testDescription = name
            self.token = token
            self.hasFile = hasFile
            self.steps = steps
        }
    }

    static let stories = [
        Story(
            "ACCT-2: signing in, renewing, switching, signing out in another process",
            [
                (.follow, .watchFile, who: "nobody"), (.follow, .nothing, who: "nobody"),
                (.file("_anna", "a1"), .notifyAppAndListeners, who: "_anna a1"),
                (.file("_anna", "a2"), .nothing, who: "_anna a2"),
                (.file("_ben", "b1"), .notifyAppAndListeners, who: "_ben b1"),
                (.file([]), .notifyAppAndListeners, who: "nobody"),
            ]
        ),
        Story(
            "What nobody follows is known, but not reported",
            [(.file("_anna", "a1"), .nothing, who: "_anna a1")]
        ),
        Story(
            "ACCT-2: the container somebody signs in to first is followed from then on",
            [
                (.followOnlyContainer, .watchFile, who: "nobody"),
                (.file("_anna", "a1"), .notifyAppAndListeners, who: "_anna a1"),
                (.file("_ben", "b1"), .notifyAppAndListeners, who: "_ben b1"),
            ]
        ),
        Story(
            "A file that cannot be read does not show who is signed in",
            [
                (.follow, .watchFile, who: "nobody"),
                (.file("_anna", "a1"), .notifyAppAndListeners, who: "_anna a1"),
                (.damagedFile, .nothing, who: "badContainer"),
                (.file("_anna", "a1"), .nothing, who: "_anna a1"),
            ]
        ),
        Story(
            "ACCT-1, ACCT-4: a standing that changes is reported, the first one is not",
            [
                (.follow, .watchFile, who: "nobody"),
                (.file("_anna", "a1"), .notifyAppAndListeners, who: "_anna a1"),
                (.standing(.good, of: "a1"), .nothing, who: "_anna a1"),
                (.standing(.good, of: "a1"), .nothing, who: "_anna a1"),
                (.standing(.restricted, of: "a0"), .nothing, who: "_anna a1"),
                (.standing(.restricted, of: "a1"), .notifyApp, who: "_anna a1"),
                (.standing(.good, of: "a1"), .notifyApp, who: "_anna a1"),
            ]
        ),
        Story(
            "ACCT-4: signing in again after a refusal is reported",
            [
                (.follow, .watchFile, who: "nobody"),
                (.file("_anna", "a1"), .notifyAppAndListeners, who: "_anna a1"),
                (.standing(.expired, of: "a1"), .nothing, who: "_anna a1"),
                (.file("_anna", "a2"), .notifyAppAndListeners, who: "_anna a2"),
                (.standing(.good, of: "a2"), .nothing, who: "_anna a2"),
            ]
        ),
        Story(
            "A token of the file is renewed there; one that is gone is renewed nowhere",
            [
                (.file("_anna", "a1"), .nothing, who: "_anna a1"),
                (.renew("a1", by: "a2"), .replaceInFile(old: "a1", new: "a2"), who: "_anna a1"),
                (.file("_anna", "a2"), .nothing, who: "_anna a2"),
                (.renew("a1", by: "a3"), .nothing, who: "_anna a2"),
            ]
        ),
        Story(
            "A token of the configuration is renewed in memory, again and again",
            token: "c1",
            [
                (.follow, .watchFile, who: "c1 c1"),
                (.renew("c1", by: "c2"), .nothing, who: "c1 c2"),
                (.renew("c2", by: "c3"), .nothing, who: "c1 c3"),
                (.renew("c2", by: "c4"), .nothing, who: "c1 c3"),
                (.file([]), .nothing, who: "c1 c3"),
            ]
        ),
        Story(
            "A call signs in and out, whatever the configuration holds",
            token: "c1", hasFile: false,
            [
                (.follow, .nothing, who: "c1 c1"),
                (.signIn("anna", token: "a1"), .notifyAppAndListeners, who: "anna a1"),
                (.renew("a1", by: "a2"), .nothing, who: "anna a2"),
                (.signIn("anna", token: "a3"), .nothing, who: "anna a3"),
                (.signOut, .notifyAppAndListeners, who: "nobody"),
                (.signOut, .nothing, who: "nobody"),
            ]
        ),
    ]

    @Test(arguments: stories)
    func story(_ story: Story) {
        var known = Self.known(token: story.token, hasFile: story.hasFile)
        var files = UInt64(0)
        for (number, step) in story.steps.enumerated() {
            let action = Self.learn(step.0, &known, &files)
            #expect(action == step.1, "step \(number + 1): \(step.0)")
            #expect(Self.who(known) == step.who, "step \(number + 1): \(step.0)")
        }
    }

    @Test("Of two looks at the file that end in the wrong order, the later one counts")
    func overtakenReading() throws {
        var known = Self.known()
        _ = known.follow(Self.container)
        let begun = [known.beginReading(Self.stamp(1)), known.beginReading(Self.stamp(2))]
        let (first, second) = (try #require(begun[0]), try #require(begun[1]))
        let actions = [
            known.take(.success([Self.session("_ben", "b1")]), from: second),
            known.take(.success([Self.session("_anna", "a1")]), from: first),
        ]
        #expect(actions == [.notifyAppAndListeners, .nothing])
        #expect(Self.who(known) == "_ben b1")
        let again = [known.beginReading(Self.stamp(2)), known.beginReading(Self.stamp(1))]
        #expect(again.map { $0 != nil } == [false, true])
    }

    private static func known(token: String? = nil, hasFile: Bool = true) -> KnownAccounts {
        KnownAccounts(
            .success(
                DeviceConfiguration(
                    server: URL(fileURLWithPath: "/"), webAuthToken: token, deviceID: "device-1"
                )
            ),
            hasFile: hasFile
        )
    }

    private static func session(_ user: String, _ token: String) -> SignedInSession {
        SignedInSession(
            container: container, environment: "development", server: "http://s",
            apiToken: "api", webAuthToken: token, user: user, userRecordName: user
        )
    }

    private static func stamp(_ number: UInt64) -> SessionFile.Stamp {
        SessionFile.Stamp(inode: number, size: 1, seconds: 0, nanoseconds: 0)
    }

    private static func who(_ known: KnownAccounts) -> String {
        do throws(CKError) {
            let (configuration, account) = try known.configuration(of: container)
            return account.map { "\($0.user) \(configuration.webAuthToken ?? "nil")" } ?? "nobody"
        } catch {
            return "\(error.code)"
        }
    }

    private static func learn(
        _ event: Event, _ known: inout KnownAccounts, _ files: inout UInt64
    ) -> KnownAccounts.Action {
        func read(_ sessions: Result<[SignedInSession], CKError>) -> KnownAccounts.Action {
            files += 1
            guard let reading = known.beginReading(stamp(files)) else { return .nothing }
            return known.take(sessions, from: reading)
        }
        switch event {
        case .follow: return known.follow(container)
        case .followOnlyContainer: return known.followOnlyContainer()
        case .file(let sessions):
            return read(.success(sessions.map { session($0.user, $0.token) }))
        case .damagedFile: return read(.failure(CKError(.badContainer)))
        case .standing(let standing, let token):
            return known.learn(standing, of: token, in: container)
        case .renew(let old, let new): return known.renew(old, by: new, in: container)
        case .signIn(let user, let token): return known.signIn(token: token, user: user)
        case .signOut: return known.signOut()
        }
    }
}
