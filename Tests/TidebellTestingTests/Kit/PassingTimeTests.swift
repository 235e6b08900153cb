// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Time that passes by itself")
struct PassingTimeTests {
    @Test("an operation that waits for the network gets its time, and no more passes")
    func patient() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        phone.inject(.error(.networkUnavailable), into: .modifyRecords, times: 2)
        let operation = CKModifyRecordsOperation(
            recordsToSave: [CKRecord(recordType: "Note")], recordIDsToDelete: nil)
        operation.qualityOfService = .utility
        let results = Log<CKError.Code?>()
        operation.modifyRecordsResultBlock = { results.append($0.ckCode) }
        await cloud.passingTime { await phone.container().privateCloudDatabase.run(operation) }
        #expect(results.entries == [nil])
        // The waits of 0.5 and 1 second of `RequestRetry`.
        #expect(cloud.clock.now.offset == .milliseconds(1500))
    }

    @Test("code under test that sleeps on the clock gets its time; heart-beats are not waited for")
    func sleeper() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        try await phone.registerForRemoteNotifications()
        let clock = cloud.clock
        try await cloud.passingTime { try await clock.sleep(for: .seconds(90)) }
        #expect(clock.now.offset == .seconds(90))
        await cloud.passingTime { for _ in 0..<1000 { await Task.yield() } }
        #expect(clock.now.offset == .seconds(90))
    }

    @Test("a wait that nobody ends fails, and says which device waits for what until when")
    func watchdog() async throws {
        let cloud = try await TestCloud(safetyLimit: .seconds(5))
        let phone = try await cloud.device(user: "anna")
        phone.inject(.lostAnswer, into: .modifyRecords)
        let error = await ckError {
            try await phone.container().privateCloudDatabase.save(CKRecord(recordType: "Note"))
        }
        #expect(error?.code == .operationCancelled)
        #expect(
            error?.localizedDescription == """
                TestCloud: the device \(phone.deviceID) of anna waits until 0.5 seconds of the \
                cloud's time, 0.5 seconds from now, to send records/modify again, after: \
                <CKError 4 (networkFailure): The connection to the server was lost: by a fault that \
                the test injected>. The clock stands still: move it, as cloud.passingTime { … } does \
                while your code runs.
                """)
    }

    @Test("no more time passes than is allowed")
    func bounded() async throws {
        let cloud = try await TestCloud(safetyLimit: .seconds(5))
        let phone = try await cloud.device(user: "anna")
        phone.inject(.slow(.seconds(30)), into: .modifyRecords)
        let code = await ckCode {
            try await cloud.passingTime(upTo: .seconds(29)) {
                let database = phone.container().privateCloudDatabase
                _ = try await database.save(CKRecord(recordType: "Note"))
            }
        }
        #expect(code == .networkFailure)
        #expect(cloud.clock.now.offset == .zero)
    }
}
