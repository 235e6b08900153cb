// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

/// What happens to a file, or to the operation, while its bytes are on their way over
/// a socket.
@Suite("Files on their way", .hangs, .finishesClouds)
struct AssetTransferTests {
    private static let size = 4 << 20
    /// The byte at which the transfers wait for the test.
    private static let point = 1 << 20

    /// What somebody else does to a file that is being read.
    enum Change: CaseIterable {
        case cut, grow, write, remove

        var code: CKError.Code { self == .remove ? .assetFileNotFound : .assetFileModified }

        func happen(to url: URL) throws {
            guard self != .remove else { return try FileManager.default.removeItem(at: url) }
            let file = try FileHandle(forWritingTo: url)
            switch self {
            case .cut: try file.truncate(atOffset: 2 << 20)
            case .grow:
                try file.seekToEnd()
                try file.write(contentsOf: Data("more".utf8))
            case .write: try file.write(contentsOf: Data("other".utf8))
            case .remove: break
            }
            try file.close()
        }
    }

    @Test(
        "ASSET-5: a file that changes while it is sent fails its record, which is not saved",
        arguments: Change.allCases
    )
    func changed(change: Change) async throws {
        let home = try await AssetHome(sockets: true)
        let url = try home.files.write("large", bytes: Self.size)
        let record = home.note(url)
        let hold = home.phone.holdTransfers(after: Self.point)
        async let failure = ckError { try await home.database.save(record) }
        try await hold.reached()
        try change.happen(to: url)
        hold.release()
        let error = try #require(await failure)
        #expect(error.code == change.code)
        #expect(error.localizedDescription.contains("field 'f' of record 'n'"))
        #expect(error.localizedDescription.contains(url.path))
        #expect(
            await ckCode { _ = try await home.database.record(for: record.recordID) }
                == .unknownItem)
        #expect(try await eventually { try home.cloud.transferCount() == 0 })
        if change == .cut { #expect(try home.serverFiles().isEmpty) }
        if change == .remove { try home.files.write("large", "new") }
        try await home.database.save(record)
        let found = try await home.database.record(for: record.recordID)
        let copy = try #require((found["f"] as? CKAsset)?.fileURL)
        #expect(FileManager.default.contentsEqual(atPath: url.path, andPath: copy.path))
    }

    @Test("OP-8: a cancelled save ends its connection, calls each block once and leaves no file")
    func cancelledSave() async throws {
        let home = try await AssetHome(sockets: true)
        let record = home.note(try home.files.write("large", bytes: Self.size))
        let hold = home.phone.holdTransfers(after: Self.point)
        let log = Log<String>()
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.perRecordProgressBlock = { _, value in log.append("progress \(value)") }
        operation.perRecordSaveBlock = { log.append("\($0.recordName) \($1.code)") }
        operation.modifyRecordsResultBlock = { log.append("result \($0.code)") }
        async let ended: Void = home.database.run(operation)
        try await hold.reached()
        operation.cancel()
        await ended
        let reported = log.entries
        hold.release()
        #expect(
            reported.filter { !$0.hasPrefix("progress") }
                == ["n operationCancelled", "result operationCancelled"]
        )
        #expect(
            try await eventually {
                try home.cloud.transferCount() == 0 && home.serverFiles().isEmpty
            }
        )
        #expect(log.entries == reported)
        try await home.database.save(record)
    }

    @Test("OP-8: a cancelled fetch ends its connection, calls each block once and leaves no file")
    func cancelledFetch() async throws {
        let home = try await AssetHome(sockets: true)
        // More than the buffers of a connection hold.
        let record = home.note(try home.files.write("large", bytes: 32 << 20))
        try await home.database.save(record)
        let hold = home.phone.holdTransfers(after: Self.point)
        let log = Log<String>()
        let operation = CKFetchRecordsOperation(recordIDs: [record.recordID])
        operation.perRecordProgressBlock = { _, value in log.append("progress \(value)") }
        operation.perRecordResultBlock = { log.append("\($0.recordName) \($1.code)") }
        operation.fetchRecordsResultBlock = { log.append("result \($0.code)") }
        async let ended: Void = home.database.run(operation)
        try await hold.reached()
        #expect(try home.cloud.transferCount() == 1)
        operation.cancel()
        await ended
        let reported = log.entries
        hold.release()
        #expect(
            reported.filter { !$0.hasPrefix("progress") }
                == ["n operationCancelled", "result operationCancelled"]
        )
        #expect(
            try await eventually {
                try home.cloud.transferCount() == 0
                    && !home.stagedFiles().contains { $0.hasSuffix(".part") }
            }
        )
        #expect(log.entries == reported)
    }

    @Test(
        "OP-8, TOK-19: changes that are cancelled while files come report no token that covers them"
    )
    func cancelledChanges() async throws {
        let home = try await AssetHome(sockets: true)
        let zoneID = CKRecordZone.ID(zoneName: "Photos")
        try await home.database.save(CKRecordZone(zoneID: zoneID))
        let record = home.note(
            try home.files.write("large", bytes: Self.size), zone: zoneID
        )
        try await home.database.save(record)
        let hold = home.phone.holdTransfers(after: Self.point)
        let log = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: nil
        )
        operation.recordWasChangedBlock = { log.append("\($0.recordName) \($1.code)") }
        operation.recordZoneChangeTokensUpdatedBlock = { _, _, _ in log.append("token") }
        operation.recordZoneFetchResultBlock = { log.append("\($0.zoneName) \($1.code)") }
        operation.fetchRecordZoneChangesResultBlock = { log.append("result \($0.code)") }
        async let ended: Void = home.database.run(operation)
        try await hold.reached()
        operation.cancel()
        await ended
        hold.release()
        #expect(log.entries == ["Photos operationCancelled", "result operationCancelled"])
    }

    @Test("OP-8: a query that is cancelled while files come fails")
    func cancelledQuery() async throws {
        let home = try await AssetHome(sockets: true)
        try await home.database.save(home.note(try home.files.write("large", bytes: Self.size)))
        let hold = home.phone.holdTransfers(after: Self.point)
        let log = Log<String>()
        let operation = CKQueryOperation(
            query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        )
        operation.recordMatchedBlock = { log.append("\($0.recordName) \($1.code)") }
        operation.queryResultBlock = { log.append("result \($0.code)") }
        async let ended: Void = home.database.run(operation)
        try await hold.reached()
        operation.cancel()
        await ended
        hold.release()
        #expect(log.entries == ["result operationCancelled"])
    }
}

extension Result where Failure == any Error {
    /// The outcome as a word.
    fileprivate var code: String { ckCode.map { "\($0)" } ?? "success" }
}
