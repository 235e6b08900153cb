// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An operation as it is kept beyond the process: all that its work depends on.
struct LongLivedOperation: ArchiveValue {
    /// The kinds of operations that can be long-lived.
    enum Work {
        case modifyRecords(ModifyRecords)
        case fetchRecords(FetchRecords)
    }

    /// What a ``CKModifyRecordsOperation`` does.
    struct ModifyRecords {
        var records: [CKRecord]
        var recordIDs: [CKRecord.ID]
        var policy: CKModifyRecordsOperation.RecordSavePolicy
        var isAtomic: Bool
        var clientChangeToken: Data?
    }

    /// What a ``CKFetchRecordsOperation`` does.
    struct FetchRecords {
        var recordIDs: [CKRecord.ID]
        var desiredKeys: [String]?
    }

    var operationID: String
    /// Who started it.
    var owner: OperationOwner
    var scope: CKDatabase.Scope
    /// The operation's own settings.
    var configuration: CKOperationConfiguration.Values
    /// The archived group; nil for none.
    var group: Data?
    var work: Work

    static var kind: ArchiveKind { .longLivedOperation }
}

/// Who started a long-lived operation: nobody else may send it, or receive its answers.
struct OperationOwner: Sendable, Equatable {
    /// The name of the user's record; nil when the device did not know.
    var userRecordName: String?
    /// What distinguishes the account from others without naming its token; nil when nobody was
    /// signed in.
    var accountDigest: Data?
}

/// A long-lived operation that is to be kept, archived as it was when it started.
struct LongLivedDraft: Sendable {
    var operationID: String
    var owner: OperationOwner
    var container: ContainerConnection
    var bytes: [UInt8]

    /// Archives an operation.
    init(_ operation: LongLivedOperation, in container: ContainerConnection) {
        operationID = operation.operationID
        owner = operation.owner
        self.container = container
        bytes = ArchiveBlob.bytes(of: operation)
    }

    /// Keeps the operation; nil where that is not possible.
    func keep() -> RequestJournal? {
        // Without configuration every request fails, and its error describes why.
        (try? LongLivedOperations(of: container))?.create(self)
    }
}

extension LongLivedOperation {
    init(from reader: inout BlobReader) throws(BlobError) {
        operationID = try reader.string()
        owner = OperationOwner(
            userRecordName: try reader.optionalString(),
            accountDigest: try reader.optional { reader throws(BlobError) in try reader.data() }
        )
        guard let scope = CKDatabase.Scope(rawValue: Int(try reader.byte())) else {
            throw .badValue
        }
        self.scope = scope
        configuration = try CKOperationConfiguration.Values(from: &reader)
        group = try reader.optional { reader throws(BlobError) in try reader.data() }
        switch try reader.byte() {
        case 1: work = .modifyRecords(try ModifyRecords(from: &reader, holdsShares: false))
        case 2: work = .fetchRecords(try FetchRecords(from: &reader))
        case 3: work = .modifyRecords(try ModifyRecords(from: &reader, holdsShares: true))
        default: throw .badValue
        }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(operationID)
        writer.write(owner.userRecordName)
        writer.write(owner.accountDigest) { $0.write($1) }
        writer.write(byte: UInt8(scope.rawValue))
        configuration.write(to: &writer)
        writer.write(group) { $0.write($1) }
        switch work {
        case .modifyRecords(let work):
            writer.write(byte: work.holdsShares ? 3 : 1)
            work.write(to: &writer)
        case .fetchRecords(let work):
            writer.write(byte: 2)
            work.write(to: &writer)
        }
    }

    /// Returns a new operation that does the same, under the same ID.
    func makeOperation(in container: CKContainer) -> CKDatabaseOperation {
        let operation: CKDatabaseOperation
        switch work {
        case .modifyRecords(let work): operation = work.makeOperation()
        case .fetchRecords(let work): operation = work.makeOperation()
        }
        operation.operationID = operationID
        operation.configuration = CKOperationConfiguration(configuration)
        operation.group = group.flatMap { CKOperationGroup(archiveBytes: [UInt8]($0)) }
        operation.database = container.database(with: scope)
        return operation
    }
}

extension LongLivedOperation.ModifyRecords {
    /// Whether some of the records are shares.
    var holdsShares: Bool { records.contains { $0 is CKShare } }

    init(from reader: inout BlobReader, holdsShares: Bool) throws(BlobError) {
        records = []
        for _ in 0..<(try reader.count()) {
            let values = try CKRecord.ArchivedValues(from: &reader)
            var sharing: CKShare.Sharing?
            if holdsShares {
                sharing = try reader.optional { reader throws(BlobError) in
                    try CKShare.Sharing(from: &reader)
                }
            }
            if let sharing {
                records.append(
                    CKShare(values.identity, state: values.state, sharing: sharing, saved: nil))
            } else {
                records.append(CKRecord(values.identity, state: values.state))
            }
        }
        recordIDs = try reader.recordIDs()
        guard
            let policy = CKModifyRecordsOperation.RecordSavePolicy(rawValue: Int(try reader.byte()))
        else { throw .badValue }
        self.policy = policy
        isAtomic = try reader.bool()
        clientChangeToken = try reader.optional { reader throws(BlobError) in try reader.data() }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(count: records.count)
        let holdsShares = holdsShares
        for record in records {
            record.archivedValues.write(to: &writer)
            if holdsShares {
                writer.write((record as? CKShare)?.values) { $1.write(to: &$0) }
            }
        }
        writer.write(recordIDs)
        writer.write(byte: UInt8(policy.rawValue))
        writer.write(isAtomic)
        writer.write(clientChangeToken) { $0.write($1) }
    }

    fileprivate func makeOperation() -> CKDatabaseOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: records, recordIDsToDelete: recordIDs
        )
        operation.savePolicy = policy
        operation.isAtomic = isAtomic
        operation.clientChangeTokenData = clientChangeToken
        return operation
    }
}

extension LongLivedOperation.FetchRecords {
    init(from reader: inout BlobReader) throws(BlobError) {
        recordIDs = try reader.recordIDs()
        desiredKeys = try reader.optional { reader throws(BlobError) in try reader.strings() }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(recordIDs)
        writer.write(desiredKeys) { $0.write($1) }
    }

    fileprivate func makeOperation() -> CKDatabaseOperation {
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.desiredKeys = desiredKeys
        return operation
    }
}

extension BlobReader {
    fileprivate mutating func recordIDs() throws(BlobError) -> [CKRecord.ID] {
        var recordIDs: [CKRecord.ID] = []
        for _ in 0..<(try count()) { recordIDs.append(try recordID()) }
        return recordIDs
    }
}

extension BlobWriter {
    fileprivate mutating func write(_ recordIDs: [CKRecord.ID]) {
        write(count: recordIDs.count)
        for recordID in recordIDs { write(recordID) }
    }
}
