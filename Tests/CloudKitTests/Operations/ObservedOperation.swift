// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// An operation with everything it reported.
final class ObservedOperation: Sendable {
    /// The operations that are observed.
    enum Kind: CaseIterable {
        case modifyRecords, fetchRecords, modifyZones, fetchZones, fetchAllZones
        case modifySubscriptions, fetchSubscriptions, fetchAllSubscriptions
        case zoneChanges, databaseChanges, query, fetchWebAuthToken
        // Deprecated ones, which have no other callbacks than their own.
        case recordChanges, notificationChanges, markNotificationsRead, modifyBadge
    }

    static let kinds = Kind.allCases
    /// Those with old callbacks beside new ones.
    static let kindsWithOldCallbacks = kinds.filter { kind in
        ![.recordChanges, .notificationChanges, .markNotificationsRead, .modifyBadge]
            .contains(kind)
    }

    private struct State {
        var operation: CKOperation?
        var events: [String] = []
        /// Those that were reported on the main queue.
        var eventsOnMainQueue: [String] = []
        var cancelAtCallback: Int?
        /// Items that are reported exactly once, known before the start.
        var expected: Set<String> = []
    }

    private let state: Locked<State>

    var operation: CKOperation? { state.withLock { $0.operation } }
    var events: [String] { state.withLock { $0.events } }
    var eventsOnMainQueue: [String] { state.withLock { $0.eventsOnMainQueue } }
    var cancelAtCallback: Int? {
        get { state.withLock { $0.cancelAtCallback } }
        set { state.withLock { $0.cancelAtCallback = newValue } }
    }

    init(_ kind: Kind) {
        state = Locked(State())
        let operation = make(kind)
        state.withLock { $0.operation = operation }
    }

    /// Waits for the completion block.
    func finished(
        isolation: isolated (any Actor)? = #isolation, _ start: () -> Void
    ) async {
        await withCheckedContinuation { continuation in
            operation?.completionBlock = { [weak self] in
                self?.note("completion")
                continuation.resume()
            }
            start()
        }
    }

    /// Sets all old callbacks as well.
    func setOldCallbacks(_ log: CallbackLog) {
        switch operation {
        case let operation as CKModifyRecordsOperation: OldModifyRecords().on(operation, log)
        case let operation as CKFetchRecordsOperation: OldFetchRecords().on(operation, log)
        case let operation as CKModifyRecordZonesOperation: OldModifyZones().on(operation, log)
        case let operation as CKFetchRecordZonesOperation: OldFetchZones().on(operation, log)
        case let operation as CKModifySubscriptionsOperation:
            OldModifySubscriptions().on(operation, log)
        case let operation as CKFetchSubscriptionsOperation:
            OldFetchSubscriptions().on(operation, log)
        case let operation as CKFetchDatabaseChangesOperation:
            OldFetchDatabaseChanges().on(operation, log)
        case let operation as CKFetchRecordZoneChangesOperation:
            OldFetchZoneChanges().on(operation, log)
        case let operation as CKQueryOperation: OldQuery().on(operation, log)
        case let operation as CKFetchWebAuthTokenOperation:
            OldFetchWebAuthToken().on(operation, log)
        default: log.add("unknown operation")
        }
    }

    func letGo() {
        state.withLock { $0.operation = nil }
    }

    /// What was wrong with the callbacks; nil for nothing.
    func problem() -> String? {
        let (events, expected) = state.withLock { ($0.events, $0.expected) }
        guard events.suffix(2) == ["result", "completion"] else { return "the end: \(events)" }
        let items = events.dropLast(2)
        guard Set(items).count == items.count else { return "reported twice: \(events)" }
        let known = Set(items).intersection(expected)
        guard known == expected else { return "\(expected.subtracting(known)) missing: \(events)" }
        return nil
    }

    private func note(_ event: String) {
        let isOnMainQueue = MainQueue.isCurrent
        let cancelled = state.withLock { state -> CKOperation? in
            state.events.append(event)
            if isOnMainQueue { state.eventsOnMainQueue.append(event) }
            return state.events.count - 1 == state.cancelAtCallback ? state.operation : nil
        }
        cancelled?.cancel()
    }

    private func expect(_ items: String...) {
        state.withLock { $0.expected = Set(items) }
    }

    // MARK: -

    private static let two = CKRecordZone.ID(zoneName: "Two")

    private func make(_ kind: Kind) -> CKOperation {
        switch kind {
        case .modifyRecords: modifyRecords()
        case .fetchRecords: fetchRecords()
        case .modifyZones: modifyZones()
        case .fetchZones, .fetchAllZones: fetchZones(all: kind == .fetchAllZones)
        case .modifySubscriptions: modifySubscriptions()
        case .fetchSubscriptions, .fetchAllSubscriptions:
            fetchSubscriptions(all: kind == .fetchAllSubscriptions)
        case .zoneChanges: zoneChanges()
        case .databaseChanges: databaseChanges()
        case .query: query()
        case .fetchWebAuthToken: fetchWebAuthToken()
        case .recordChanges, .notificationChanges, .markNotificationsRead, .modifyBadge:
            old(kind)
        }
    }

    private func modifyRecords() -> CKDatabaseOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("a"), Sample.record("b", zone: Self.two)],
            recordIDsToDelete: [Sample.id("c"), Sample.id("d", zone: Self.two)]
        )
        expect("save a", "save b", "delete c", "delete d")
        operation.perRecordSaveBlock = { [weak self] id, _ in self?.note("save \(id.recordName)") }
        operation.perRecordDeleteBlock = { [weak self] id, _ in
            self?.note("delete \(id.recordName)")
        }
        operation.modifyRecordsResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func fetchRecords() -> CKDatabaseOperation {
        let operation = CKFetchRecordsOperation(
            recordIDs: [Sample.id("a"), Sample.id("b"), Sample.id("c", zone: Self.two)]
        )
        expect("record a", "record b", "record c")
        operation.perRecordResultBlock = { [weak self] id, _ in
            self?.note("record \(id.recordName)")
        }
        operation.fetchRecordsResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func modifyZones() -> CKDatabaseOperation {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "a")], recordZoneIDsToDelete: [Self.two]
        )
        expect("save a", "delete Two")
        operation.perRecordZoneSaveBlock = { [weak self] id, _ in
            self?.note("save \(id.zoneName)")
        }
        operation.perRecordZoneDeleteBlock = { [weak self] id, _ in
            self?.note("delete \(id.zoneName)")
        }
        operation.modifyRecordZonesResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func fetchZones(all: Bool) -> CKDatabaseOperation {
        let operation =
            all
            ? CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            : CKFetchRecordZonesOperation(recordZoneIDs: [Sample.zoneID, Self.two])
        if !all { expect("zone Notes", "zone Two") }
        operation.perRecordZoneResultBlock = { [weak self] id, _ in
            self?.note("zone \(id.zoneName)")
        }
        operation.fetchRecordZonesResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func modifySubscriptions() -> CKDatabaseOperation {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "a")],
            subscriptionIDsToDelete: ["b"]
        )
        expect("save a", "delete b")
        operation.perSubscriptionSaveBlock = { [weak self] id, _ in self?.note("save \(id)") }
        operation.perSubscriptionDeleteBlock = { [weak self] id, _ in self?.note("delete \(id)") }
        operation.modifySubscriptionsResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func fetchSubscriptions(all: Bool) -> CKDatabaseOperation {
        let operation =
            all
            ? CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
            : CKFetchSubscriptionsOperation(subscriptionIDs: ["a", "b"])
        if !all { expect("subscription a", "subscription b") }
        operation.perSubscriptionResultBlock = { [weak self] id, _ in
            self?.note("subscription \(id)")
        }
        operation.fetchSubscriptionsResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func zoneChanges() -> CKDatabaseOperation {
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Sample.zoneID, Self.two], configurationsByRecordZoneID: nil
        )
        expect("zone Notes", "zone Two")
        operation.recordWasChangedBlock = { [weak self] id, _ in
            self?.note("record \(id.recordName) of \(id.zoneID.zoneName)")
        }
        operation.recordWithIDWasDeletedBlock = { [weak self] id, _ in
            self?.note("deleted \(id.recordName) of \(id.zoneID.zoneName)")
        }
        operation.recordZoneFetchResultBlock = { [weak self] id, _ in
            self?.note("zone \(id.zoneName)")
        }
        operation.fetchRecordZoneChangesResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func databaseChanges() -> CKDatabaseOperation {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        operation.recordZoneWithIDChangedBlock = { [weak self] id in
            self?.note("changed \(id.zoneName)")
        }
        operation.fetchDatabaseChangesResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func query() -> CKDatabaseOperation {
        let operation = CKQueryOperation(
            query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        )
        operation.recordMatchedBlock = { [weak self] id, _ in
            self?.note("matched \(id.recordName)")
        }
        operation.queryResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func fetchWebAuthToken() -> CKDatabaseOperation {
        let operation = CKFetchWebAuthTokenOperation(apiToken: "api")
        operation.fetchWebAuthTokenResultBlock = { [weak self] _ in self?.note("result") }
        return operation
    }

    private func old(_ kind: Kind) -> CKOperation {
        let operations: any OldOperations = DeprecatedOperations()
        return operations.make(kind) { [weak self] in self?.note($0) }
    }
}

/// Makes operations of deprecated classes; a protocol because its requirement is not
/// deprecated, and tests are to compile without warnings.
private protocol OldOperations {
    /// Returns an operation that notes its callbacks.
    func make(
        _ kind: ObservedOperation.Kind, _ note: @escaping @Sendable (String) -> Void
    ) -> CKOperation
}

private struct DeprecatedOperations: OldOperations {
    @available(*, deprecated)
    func make(
        _ kind: ObservedOperation.Kind, _ note: @escaping @Sendable (String) -> Void
    ) -> CKOperation {
        switch kind {
        case .recordChanges:
            let operation = CKFetchRecordChangesOperation(
                recordZoneID: Sample.zoneID, previousServerChangeToken: nil
            )
            operation.recordChangedBlock = { note("changed \($0.recordID.recordName)") }
            operation.recordWithIDWasDeletedBlock = { note("deleted \($0.recordName)") }
            operation.fetchRecordChangesCompletionBlock = { _, _, _ in note("result") }
            return operation
        case .notificationChanges:
            let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
            operation.notificationChangedBlock = {
                note("notification \($0.notificationID?.rawValue ?? "nil")")
            }
            operation.fetchNotificationChangesCompletionBlock = { _, _ in note("result") }
            return operation
        case .markNotificationsRead:
            let operation = CKMarkNotificationsReadOperation(
                notificationIDsToMarkRead: ["a", "b"].map { CKNotification.ID($0) }
            )
            operation.markNotificationsReadCompletionBlock = { _, _ in note("result") }
            return operation
        default:
            let operation = CKModifyBadgeOperation(badgeValue: 1)
            operation.modifyBadgeCompletionBlock = { _ in note("result") }
            return operation
        }
    }
}

extension CKOperation {
    /// Makes the operation one of a device, without adding it anywhere.
    func belong(to device: TestDevice) {
        if let operation = self as? CKDatabaseOperation {
            operation.database = device.database
        } else {
            configuration.container = device.container
        }
    }
}

extension TestDevice {
    /// Adds an operation to the private database, or to the container if it needs none.
    func add(_ operation: CKOperation) {
        if let operation = operation as? CKDatabaseOperation {
            database.add(operation)
        } else {
            container.add(operation)
        }
    }
}

/// The main queue, on which apps do not want callbacks.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller runs there.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
