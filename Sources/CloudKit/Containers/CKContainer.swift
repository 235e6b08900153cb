// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The data of an app: a public, a private and a shared database.
///
/// The server, the tokens and the device are not set in source code, but by environment variables
/// such as `TIDEBELL_SERVER`, or in the file `device.json`; the table "How a program finds its
/// server" in <doc:FromApplesCloudKit> lists them. If one of them is missing, requests fail with an
/// error that names it; creating a container never fails.
///
/// ```swift
/// let container = CKContainer(identifier: "iCloud.org.example.notes")
/// guard try await container.accountStatus() == .available else { return askToSignIn() }
/// let database = container.privateCloudDatabase
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckcontainer>.
open class CKContainer: NSObject, @unchecked Sendable {
    // Sendable: constants, but for the databases, which are behind a lock.

    /// The container as the device reaches it.
    let connection: ContainerConnection

    /// What the container and its databases run their convenience methods with.
    let conveniences: ConvenienceSettings

    private let databases = Locked<[CKDatabase.Scope: WeakDatabase]>([:])

    /// Returns the container that `TIDEBELL_CONTAINER`, or `"container"` in `device.json`, names;
    /// else the container with a signed-in user, if there is only one.
    ///
    /// Returns the same object as long as the app keeps a reference to it. If no container is
    /// configured, requests fail with `badContainer`, until `tidebell login` is run, even while the
    /// app runs.
    open class func `default`() -> CKContainer {
        (DeviceSession.current ?? .process).makeDefaultContainer()
    }

    /// Creates a container of an identifier, such as `iCloud.org.example.notes`.
    ///
    /// Not checked here: a name that nobody signed in to fails with the first request.
    // NB: convenience on Apple's systems; subclasses in tests of apps need one they can
    // call, and extensions of apps call it as `Self(identifier:)`.
    public required init(identifier containerIdentifier: String) {
        connection = ContainerConnection(
            identifier: containerIdentifier,
            session: .current ?? .process
        )
        conveniences = ConvenienceSettings()
        super.init()
        connection.follow()
    }

    /// Creates a container that is reached in a given way.
    init(
        connection: ContainerConnection,
        conveniences: ConvenienceSettings = ConvenienceSettings()
    ) {
        self.connection = connection
        self.conveniences = conveniences
        super.init()
        connection.follow()
    }

    /// The identifier; nil for a default container that is not configured.
    open var containerIdentifier: String? { connection.identifier }

    /// The private database of the signed-in user; the same object as long as the app keeps a
    /// reference to it.
    open var privateCloudDatabase: CKDatabase { database(with: .private) }

    /// The public database, which every user can read; the same object as long as the app keeps a
    /// reference to it.
    open var publicCloudDatabase: CKDatabase { database(with: .public) }

    /// The database with the zones and records that other users shared with the signed-in user; the
    /// same object as long as the app keeps a reference to it.
    open var sharedCloudDatabase: CKDatabase { database(with: .shared) }

    /// Returns one of the databases; the same object as long as the app keeps a reference to it.
    open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let known = databases[databaseScope]?.database { return known }
            let database = CKDatabase(
                container: self,
                scope: databaseScope,
                conveniences: conveniences
            )
            databases[databaseScope] = WeakDatabase(database: database)
            return database
        }
    }

    /// Runs an operation, after the operations that it depends on.
    ///
    /// A database operation without a database uses the private database of this container. An
    /// operation that needs no database uses this container unless its configuration names another
    /// one.
    open func add(_ operation: CKOperation) {
        if let operation = operation as? CKDatabaseOperation, operation.database == nil {
            operation.database = privateCloudDatabase
        }
        operation.addedTo = connection
        connection.session.add(operation)
    }
}

extension CKContainer {
    /// Creates a container on a device other than the process.
    package convenience init(identifier: String, session: DeviceSession) {
        self.init(connection: ContainerConnection(identifier: identifier, session: session))
    }
}

/// A database, kept as long as the app keeps it: it keeps the container.
private struct WeakDatabase {
    weak var database: CKDatabase?
}

/// How the convenience methods of a container or database run (OP-7).
struct ConvenienceSettings: Sendable {
    /// The configuration of their operations.
    var configuration: CKOperation.Configuration?
    /// The group of their operations.
    var group: CKOperationGroup?

    /// Whether there are any.
    var areSet: Bool { configuration != nil || group != nil }
}
