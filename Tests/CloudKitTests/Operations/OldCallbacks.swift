// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// The deprecated callbacks, which most apps still use.
///
/// They are set through a protocol, whose requirement is not deprecated: tests of them
/// are to compile without warnings.
protocol OldCallbacks {
    associatedtype Operation

    func set(_ operation: Operation, _ log: CallbackLog, _ errors: Locked<CKError?>)
}

extension OldCallbacks {
    /// Sets all old callbacks of an operation to write into `log`, and the last one to
    /// keep its error.
    func on(
        _ operation: Operation,
        _ log: CallbackLog,
        errors: Locked<CKError?> = Locked(nil)
    ) {
        set(operation, log, errors)
    }
}

/// Those of ``CKModifyRecordsOperation``.
struct OldModifyRecords: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKModifyRecordsOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.perRecordCompletionBlock = { record, error in
            log.add("save \(record.recordID.recordName) \(text(error))")
        }
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            errors.current = error as? CKError
            let saved = saved?.map(\.recordID.recordName).joined(separator: ",") ?? "nil"
            let deleted = deleted?.map(\.recordName).joined(separator: ",") ?? "nil"
            log.add("completion saved [\(saved)] deleted [\(deleted)] \(text(error))")
        }
    }
}

/// Those of ``CKFetchRecordsOperation``.
struct OldFetchRecords: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchRecordsOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.perRecordCompletionBlock = { record, id, error in
            let name = id?.recordName ?? "nil"
            log.add("record \(name) \(record == nil ? "nil" : "there") \(text(error))")
        }
        operation.fetchRecordsCompletionBlock = { records, error in
            errors.current = error as? CKError
            let names = records?.keys.map(\.recordName).sorted().joined(separator: ",") ?? "nil"
            log.add("completion [\(names)] \(text(error))")
        }
    }
}

/// Those of ``CKModifyRecordZonesOperation``.
struct OldModifyZones: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKModifyRecordZonesOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            errors.current = error as? CKError
            let saved = saved?.map(\.zoneID.zoneName).joined(separator: ",") ?? "nil"
            let deleted = deleted?.map(\.zoneName).joined(separator: ",") ?? "nil"
            log.add("completion saved [\(saved)] deleted [\(deleted)] \(text(error))")
        }
    }
}

/// Those of ``CKFetchRecordZonesOperation``.
struct OldFetchZones: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchRecordZonesOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.fetchRecordZonesCompletionBlock = { zones, error in
            errors.current = error as? CKError
            let names = zones?.keys.map(\.zoneName).sorted().joined(separator: ",") ?? "nil"
            log.add("completion [\(names)] \(text(error))")
        }
    }
}

/// Those of ``CKModifySubscriptionsOperation``.
struct OldModifySubscriptions: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKModifySubscriptionsOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            errors.current = error as? CKError
            let saved = saved?.map(\.subscriptionID).joined(separator: ",") ?? "nil"
            let deleted = deleted?.joined(separator: ",") ?? "nil"
            log.add("completion saved [\(saved)] deleted [\(deleted)] \(text(error))")
        }
    }
}

/// Those of ``CKFetchSubscriptionsOperation``.
struct OldFetchSubscriptions: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchSubscriptionsOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.fetchSubscriptionCompletionBlock = { subscriptions, error in
            errors.current = error as? CKError
            let names = subscriptions?.keys.sorted().joined(separator: ",") ?? "nil"
            log.add("completion [\(names)] \(text(error))")
        }
    }
}

/// Those of ``CKFetchWebAuthTokenOperation``.
struct OldFetchWebAuthToken: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchWebAuthTokenOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.fetchWebAuthTokenCompletionBlock = { token, error in
            errors.current = error as? CKError
            log.add("completion \(token ?? "nil") \(text(error))")
        }
    }
}

/// Those of ``CKFetchDatabaseChangesOperation``.
struct OldFetchDatabaseChanges: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchDatabaseChangesOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
            errors.current = error as? CKError
            log.add("completion \(token.plain) \(moreComing) \(text(error))")
        }
    }
}

/// Those of ``CKFetchRecordZoneChangesOperation``.
struct OldFetchZoneChanges: OldCallbacks {
    @available(*, deprecated)
    func set(
        _ operation: CKFetchRecordZoneChangesOperation,
        _ log: CallbackLog,
        _ errors: Locked<CKError?>
    ) {
        operation.recordChangedBlock = { log.add("changed \($0.recordID.recordName)") }
        operation.recordZoneFetchCompletionBlock = { zoneID, token, client, more, error in
            let client = client.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
            log.add("zone \(zoneID.zoneName) \(token.plain) \(client) \(more) \(text(error))")
        }
        operation.fetchRecordZoneChangesCompletionBlock = { error in
            errors.current = error as? CKError
            log.add("completion \(text(error))")
        }
    }
}

extension CKServerChangeToken {
    /// The token's text, as the script gave it.
    var plain: String { String(decoding: data, as: UTF8.self) }
}

extension CKServerChangeToken? {
    /// The token's text, as the script gave it.
    var plain: String { self.map(\.plain) ?? "nil" }
}

/// Those of ``CKQueryOperation``.
struct OldQuery: OldCallbacks {
    @available(*, deprecated)
    func set(_ operation: CKQueryOperation, _ log: CallbackLog, _ errors: Locked<CKError?>) {
        operation.recordFetchedBlock = { log.add("fetched \($0.recordID.recordName)") }
        operation.queryCompletionBlock = { cursor, error in
            errors.current = error as? CKError
            log.add("completion \(cursor != nil) \(text(error))")
        }
    }
}
