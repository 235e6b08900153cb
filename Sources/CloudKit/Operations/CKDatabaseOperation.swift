// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// What every operation on a database has in common.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckdatabaseoperation>.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// The database to use; nil means the private database of the configuration's container, or of
    /// the default container (OP-1).
    open var database: CKDatabase?

    /// Creates an operation.
    public override init() {
        super.init()
    }

    override var containerConnection: ContainerConnection {
        database?.connection.container ?? super.containerConnection
    }

    /// Returns the work that is kept beyond the process; nil for operations that cannot be
    /// long-lived.
    func longLivedWork() -> LongLivedOperation.Work? { nil }

    override func longLivedOperation() -> LongLivedDraft? {
        guard let work = longLivedWork() else { return nil }
        let container = connection.container
        let own: CKOperationConfiguration = configuration
        let operation = LongLivedOperation(
            operationID: operationID,
            owner: OperationOwner(
                userRecordName: container.userRecordName,
                accountDigest: (account ?? container.accountPin).account?.digest
            ),
            scope: database?.databaseScope ?? .private,
            configuration: own.values,
            group: group.map { Data($0.archiveBytes) },
            work: work
        )
        return LongLivedDraft(operation, in: container)
    }

    /// How the operation reaches its database.
    var connection: DatabaseConnection {
        if let database { return database.connection }
        return DatabaseConnection(container: containerConnection, scope: .private)
    }
}
