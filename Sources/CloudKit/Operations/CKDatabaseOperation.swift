// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What every operation on a database has in common.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckdatabaseoperation>.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// The database to work with; nil is the private database of the configuration's
    /// container, or of the default one (OP-1).
    open var database: CKDatabase?

    /// Creates an operation.
    public override init() {
        super.init()
    }

    override var containerConnection: ContainerConnection {
        database?.connection.container ?? super.containerConnection
    }

    /// How the operation reaches its database.
    var connection: DatabaseConnection {
        if let database { return database.connection }
        return DatabaseConnection(container: containerConnection, scope: .private)
    }
}
