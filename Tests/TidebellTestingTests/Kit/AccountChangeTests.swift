// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Accounts on a device")
struct AccountChangeTests {
    @Test("ACCT-2: an app sees a sign-out, a switch and a sign-in, each reported and each real")
    func switching() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let container = phone.container()
        let notified = Log<Int>()
        let token = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { _ in notified.append(1) }
        defer { NotificationCenter.default.removeObserver(token) }
        let annas = try await container.userRecordID()
        _ = try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Annas"))

        try await phone.signOut()
        #expect(phone.user == nil)
        #expect(!notified.entries.isEmpty)
        #expect(try await container.accountStatus() == .noAccount)
        #expect(
            await ckCode { _ = try await container.privateCloudDatabase.allRecordZones() }
                == .notAuthenticated
        )
        try await phone.signIn("ben")
        #expect(try await container.userRecordID() != annas)
        #expect(try await container.privateCloudDatabase.allRecordZones().count == 1)
        try await phone.signIn("anna")
        #expect(try await container.userRecordID() == annas)
        #expect(try await container.privateCloudDatabase.allRecordZones().count == 2)
    }

    @Test("ACCT-5: users read and save fields of their own record")
    func userRecord() async throws {
        let cloud = try await TestCloud()
        let container = try await cloud.device(user: "anna").container()
        let id = try await container.userRecordID()
        for database in [container.privateCloudDatabase, container.publicCloudDatabase] {
            let record = try await database.record(for: id)
            #expect(record.recordType == CKRecord.SystemType.userRecord)
            record["color"] = "red"
            _ = try await database.save(record)
            #expect(try await database.record(for: id)["color"] == "red")
        }
    }

    @Test("ACCT-10: a fetched web token signs a page in")
    func webAuthToken() async throws {
        let cloud = try await TestCloud()
        let container = try await cloud.device(user: "anna").container()
        let operation = CKFetchWebAuthTokenOperation(apiToken: "unknown")
        let error: CKError? = await withCheckedContinuation { continuation in
            operation.fetchWebAuthTokenResultBlock = { result in
                guard case .failure(let error) = result else {
                    return continuation.resume(returning: nil)
                }
                continuation.resume(returning: error as? CKError)
            }
            container.privateCloudDatabase.add(operation)
        }
        #expect(error?.code == .notAuthenticated)
    }

    @Test("SYNC-17, ACCT-2: an engine that runs is notified of a switch without the app's help")
    func runningEngine() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: phone.privateDatabase)
        await keeper.write("a", "of anna", in: engine)
        try await engine.sendChanges()
        await keeper.write("b", "not sent", in: engine)
        try await phone.signIn("ben")
        try await engine.sendChanges()
        #expect(await keeper.events.contains("switch accounts"))
        #expect(engine.state.pendingRecordZoneChanges == [])
        #expect(try await cloud.dump().contains("ben private") == false)
    }
}
