// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A database of a container.
///
/// Most methods exist in two forms: with a completion handler, which is called once on a background
/// queue, and async. All errors are ``CKError``s (OP-12, OP-13).
///
/// ```swift
/// let database = CKContainer.default().privateCloudDatabase
/// try await database.save(CKRecordZone(zoneID: zoneID))
/// let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
/// note["text"] = "milk"
/// try await database.save(note)
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH %@", "m"))
/// for (_, result) in try await database.records(matching: query, inZoneWith: zoneID).matchResults {
///     print(try result.get()["text"] ?? "")
/// }
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckdatabase>.
open class CKDatabase: NSObject, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.

    /// The databases of a container.
    public enum Scope: Int, Sendable {
        /// The database that every user can read.
        case `public` = 1
        /// The private database of the signed-in user.
        case `private` = 2
        /// The zones and records that other users shared with the signed-in user.
        case shared = 3
    }

    /// The database as the device reaches it.
    let connection: DatabaseConnection

    private let container: CKContainer
    private let scope: Scope
    private let conveniences: ConvenienceSettings

    /// Creates a database of a container.
    init(container: CKContainer, scope: Scope, conveniences: ConvenienceSettings) {
        self.container = container
        self.scope = scope
        self.conveniences = conveniences
        connection = DatabaseConnection(
            container: container.connection,
            scope: DatabaseScope(scope)
        )
        super.init()
    }

    /// Which of the container's databases this is.
    open var databaseScope: CKDatabase.Scope { scope }

    /// Whether requests of another database object go to the same address in the same way.
    func isInterchangeable(with other: CKDatabase) -> Bool {
        self === other
            || !conveniences.areSet && !other.conveniences.areSet
                && connection.isSame(as: other.connection)
    }

    /// Runs an operation on this database, after the operations that it depends on.
    open func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        connection.container.session.add(operation)
    }

    /// Calls `body` with this database, whose methods run with a configuration and in a
    /// group (OP-7).
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredDatabase: CKDatabase) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls `body` with this database, whose methods run with a configuration and in a
    /// group (OP-7).
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredDatabase: CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?,
        _ group: CKOperationGroup?
    ) -> CKDatabase {
        CKDatabase(
            container: container,
            scope: scope,
            conveniences: ConvenienceSettings(
                configuration: configuration?.copied() ?? conveniences.configuration,
                group: group ?? conveniences.group
            )
        )
    }
}

// How the convenience methods run.
extension CKDatabase {
    /// Runs the operation of a convenience method as this database is configured; without
    /// a configuration after operations that wait for their turn as well (OP-7).
    func run(_ operation: CKDatabaseOperation) {
        if !conveniences.areSet { operation.queuePriority = .low }
        if let configuration = conveniences.configuration {
            operation.configuration = configuration
        }
        if let group = conveniences.group { operation.group = group }
        add(operation)
    }

    /// Runs an operation and returns what its callbacks give.
    ///
    /// - Parameter collect: Sets the callbacks; they hand the result over once.
    func value<Value: Sendable>(
        of operation: CKDatabaseOperation,
        _ collect: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                collect { continuation.resume(with: $0) }
                run(operation)
            }
        } onCancel: {
            operation.cancel()
        }
    }
}

extension DatabaseScope {
    /// The wire's name of a database.
    init(_ scope: CKDatabase.Scope) {
        switch scope {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        }
    }
}
