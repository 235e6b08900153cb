// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellTestStores
import TidebellWire

/// Writes of several scopes on a store that commits each step by itself: they are ended before
/// each of their steps, and done again.
@Suite("What crosses from one scope to another")
struct CrossingTests {
    /// Ends the write before each of its steps, on a new bench each time, does it again, and
    /// checks that it comes to what it comes to undisturbed.
    private func interrupted<Outcome: Equatable>(
        _ write: (Bench, any OpenedStore) async throws -> Void,
        leaving outcome: (Bench) async throws -> Outcome
    ) async throws {
        var steps = 0
        var expected: Outcome?
        while true {
            let bench = try await Bench()
            let apart = ApartStore(bench.store)
            if steps > 0 {
                apart.stop(before: steps - 1)
                do { try await write(bench, apart) } catch is ApartStore.Stopped {}
                if apart.isStopAhead { break }
            }
            try await write(bench, apart)
            let found = try await outcome(bench)
            #expect(found == expected ?? found, "ended before step \(steps)")
            expected = expected ?? found
            // A step that comes again changes nothing.
            try await write(bench, apart)
            #expect(try await outcome(bench) == found, "done again, step \(steps)")
            steps += 1
        }
        #expect(steps > 2)
    }

    @Test("ENV-1: a save whose schema grows may end between its steps, and be done again")
    func growth() async throws {
        try await interrupted { bench, store in
            let request = ModifyRecords.Request(
                zoneID: ZoneID(zoneName: ZoneID.defaultName),
                operations: [.save(.forceReplace, "a", title: "one")]
            )
            let response = try await store.save(request, for: bench.call())
            #expect(response.records.map(\.summary) == ["a=one"])
        } leaving: { bench in
            try await bench.store.read { reader in
                let key = DatabaseKey(
                    container: Bench.container, scope: .private, owner: bench.anna.id)
                return Saved(
                    types: try reader.recordTypes(["Note"], in: Bench.container),
                    use: try reader.database(key)?.use
                )
            }
        }
    }

    @Test("ENV-1: a save that fails after its schema has grown leaves the schema alone")
    func harmless() async throws {
        let bench = try await Bench()
        let apart = ApartStore(bench.store)
        apart.stop(before: 2)
        let request = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: ZoneID.defaultName),
            operations: [.save(.create, "a", title: "one")]
        )
        await #expect(throws: ApartStore.Stopped.self) {
            try await apart.save(request, for: bench.call())
        }
        let types = try await bench.store.read {
            try $0.recordTypes(["Note"], in: Bench.container)
        }
        #expect(types["Note"]?.fields.keys.sorted() == ["title"])
        let found = try await bench.lookup("a", zone: ZoneID.defaultName)
        #expect(found.map(\.summary) == ["a NOT_FOUND"])
    }

    @Test(
        "SUB-51: a device that changes hands is nobody's for a moment, then the new one's"
    )
    func device() async throws {
        try await interrupted { bench, store in
            let now = bench.call().now
            let (anna, otto) = (bench.anna.id, bench.otto.id)
            try await bench.store.write(.user(anna)) { transaction in
                guard try transaction.devices(of: otto).isEmpty else { return }
                let device = try transaction.registerDevice(
                    clientID: "phone", user: anna, container: Bench.container, at: now)
                try transaction.putPushToken(.native, notifying: device.key)
            }
            try await store.writeInSteps(for: nil) { steps in
                try steps.write(.user(otto)) { transaction -> StepOutcome<Void, HeldByOthers> in
                    if let held = try HeldByOthers(
                        clientID: "phone", pushToken: "00ff", besides: bench.otto,
                        in: transaction)
                    {
                        return .needs(held)
                    }
                    let device = try transaction.registerDevice(
                        clientID: "phone", user: otto, container: Bench.container, at: now)
                    return .done(try transaction.putPushToken(.native, notifying: device.key))
                } first: {
                    try $0.run(as: steps)
                }
            }
        } leaving: { bench in
            try await bench.store.read { reader in
                let tokens = try reader.devicesWithTokens(
                    of: [bench.anna.id, bench.otto.id], at: Instant(rawValue: 0))
                return [bench.anna.id, bench.otto.id].map { user in
                    tokens.filter { $0.user == user }.map { "\($0.clientID) \($0.tokens.count)" }
                }
            }
        }
    }

    @Test("SUB-51: a sign-out that ends between device and session can come again")
    func signOut() async throws {
        try await interrupted { bench, store in
            var call = bench.call()
            let user = bench.anna
            call.session = .phone
            let isNew = try await bench.store.read {
                try $0.webToken(hash: WebTokenHash(digest: [2], in: .directory)) == nil
            }
            if isNew { try await bench.signIn(user, on: ["phone", "laptop"], at: call.now) }
            try await store.writeInSteps(for: nil) { [call] in
                try SignOut.run(for: call, of: user, as: $0)
            }
        } leaving: { bench in
            try await bench.store.read { reader in
                SignedIn(
                    devices: try reader.devices(of: bench.anna.id).map(\.clientID),
                    sessions: try reader.sessions(
                        of: bench.anna.account, at: Instant(rawValue: 0), limit: 10
                    ).map(\.id)
                )
            }
        }
    }

    @Test("ASSET-4: an upload that ends between file and token can be sent again")
    func upload() async throws {
        let file = StoredAsset(
            content: AssetContent(rawValue: "content"), file: "file", size: 3, checksum: "sum",
            key: nil
        )
        try await interrupted { bench, store in
            let call = bench.call()
            let request = UploadAssets.Request(
                zoneID: ZoneID(zoneName: ZoneID.defaultName),
                tokens: [.init(recordName: "a", recordType: "Note", fieldName: "file")]
            )
            let isNew = try await bench.store.read { reader in
                try reader.assets([file.content]).isEmpty
                    && reader.awaitedUpload(tokenHash: [1]) == nil
            }
            if isNew {
                _ = try await bench.store.write(.account(bench.anna.account)) {
                    try UploadAssets.run(request, tokenHashes: [[1]], for: call, in: $0)
                }
            }
            _ = try await store.writeInSteps(for: nil) {
                try UploadAssets.finish(
                    file, tokenHash: [1], of: bench.anna.account, at: call.now,
                    unlessKept: { _ in true }, as: $0)
            }
        } leaving: { bench in
            try await bench.store.read { reader in
                Uploaded(
                    files: try reader.knownAssetFiles(among: ["file"]),
                    isAwaited: try reader.awaitedUpload(tokenHash: [1]) != nil
                )
            }
        }
    }
}

private struct Saved: Equatable {
    var types: [String: StoredRecordType]
    var use: StorageUse?
}

private struct SignedIn: Equatable {
    var devices: [String]
    var sessions: [SessionID]
}

extension SessionID {
    fileprivate static let phone = SessionID(rawValue: "1")
    fileprivate static let laptop = SessionID(rawValue: "2")
}

extension Bench {
    /// Gives a user these devices, each with a session and a token of the same number.
    fileprivate func signIn(
        _ user: StoredUser, on devices: [String], at now: Instant
    ) async throws {
        try await store.write(.user(user.id)) { transaction in
            for device in devices {
                _ = try transaction.registerDevice(
                    clientID: device, user: user.id, container: Bench.container, at: now)
            }
        }
        try await store.write(.account(user.account)) { transaction in
            for (hash, session) in [([1], .phone), ([2], .laptop)] as [([UInt8], SessionID)] {
                try transaction.putWebToken(
                    StoredWebToken(
                        account: user.account, expiresAt: now.advanced(by: .seconds(60)),
                        session: session),
                    hash: hash)
            }
        }
    }
}

private struct Uploaded: Equatable {
    var files: Set<String>
    var isAwaited: Bool
}

extension StoredPushToken {
    fileprivate static var native: StoredPushToken {
        StoredPushToken(token: "00ff", apnsEnvironment: .development, courier: nil)
    }
}
