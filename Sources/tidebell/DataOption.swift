// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellPostgres
import TidebellScheduling
import TidebellServer

/// The option all commands have: which cloud.
struct DataOption: ParsableArguments {
    private static let environmentVariable = "TIDEBELL_DATA"
    private static let storeVariable = "TIDEBELL_STORE"
    private static let defaultPath = "tidebell-data"

    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            "The data folder (default: $\(environmentVariable), else ./\(defaultPath)).",
            valueName: "folder"
        ),
        completion: .directory
    )
    private var path: String?

    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database that keeps records instead of a file in the data folder, as libpq "
                + "writes it: postgres://USER@HOST/DATABASE (default: $\(storeVariable)).",
            discussion: """
                An empty database becomes a new cloud. Give the password in ~/.pgpass, PGPASSFILE or a \
                service file: others on the machine can read the command line. The root key and the \
                files of records stay in the data folder.
                """,
            valueName: "address"
        )
    )
    private var store: String?

    /// The address of the database that keeps records; nil where a file in the data folder does.
    private var storeAddress: String? {
        let address = store ?? ProcessInfo.processInfo.environment[Self.storeVariable]
        return address == "" ? nil : address
    }

    func validate() throws {
        guard let storeAddress else { return }
        do {
            _ = try PostgresFactory(storeAddress)
        } catch {
            throw ValidationError("--store: \(error)")
        }
    }

    /// The data folder.
    var folder: URL {
        let environment = ProcessInfo.processInfo.environment[Self.environmentVariable]
        let path = path ?? (environment == "" ? nil : environment) ?? Self.defaultPath
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// The cloud in it; every command takes the engine of its store from here.
    var dataFolder: DataFolder { dataFolder(servedBy: nil) }

    /// The cloud in it, as one of the nodes that serve it has it.
    ///
    /// - Parameter losslessFailover: Whether a standby of its database that is promoted has every acknowledged write.
    func dataFolder(servedBy node: NodeName?, losslessFailover: Bool = false) -> DataFolder {
        // The address was looked at before.
        guard let storeAddress,
            let stores = try? PostgresFactory(
                storeAddress, as: node, losslessFailover: losslessFailover)
        else { return DataFolder(folder) }
        return DataFolder(folder, stores: stores)
    }

    /// The address of that database; nil where a file in the data folder keeps records.
    var databaseAddress: String? { storeAddress }

    /// Whether a database keeps records, and no file in the data folder.
    var hasDatabase: Bool { storeAddress != nil }

    /// Where the cloud is, as a sentence about it names it.
    var place: String {
        hasDatabase ? "\(storePlace) and \(shortPath)" : shortPath
    }

    /// Where its records are, without a password.
    private var storePlace: String {
        guard let storeAddress, let stores = try? PostgresFactory(storeAddress) else {
            return shortPath
        }
        return "PostgreSQL (\(stores.description))"
    }

    /// The folder as the operator would write it.
    var shortPath: String {
        let current = FileManager.default.currentDirectoryPath + "/"
        return folder.path.hasPrefix(current)
            ? "./" + folder.path.dropFirst(current.count) : folder.path
    }

    /// The folders above the data folder that are missing, from the top one down.
    var missingParents: [String] {
        var missing: [String] = []
        var parent = folder.standardizedFileURL.deletingLastPathComponent()
        while parent.path != "/", !FileManager.default.fileExists(atPath: parent.path) {
            missing.insert(parent.path, at: 0)
            parent.deleteLastPathComponent()
        }
        return missing
    }

    /// What to add to another command so that it means the same cloud; empty for
    /// the default folder.
    var hint: String {
        let folder = path.map { " --data \($0.asShellWord)" } ?? ""
        guard let store else { return folder }
        // A password is not repeated.
        let isSecret = store.contains("password") || store.contains(#/:[^@\/]*@/#)
        return folder + " --store \(isSecret ? "ADDRESS" : store.asShellWord)"
    }

    /// Runs `body` on the store of a cloud that exists, also while a server runs on
    /// it.
    func withExistingStore<Result: Sendable>(
        _ body: (any Store) async throws -> Result
    ) async throws -> Result {
        let data = dataFolder
        try data.checkIsNotLost()
        guard data.hasStore else {
            throw OperatorError(
                "There is no cloud in \(shortPath). Name the cloud's folder with --data, or begin a "
                    + "new cloud there: tidebell serve\(hint)"
            )
        }
        nameCloud()
        return try await withStore(body)
    }

    /// Prints which folder or database a command works on where its own words do not name it: the wrong one is
    /// found by looking, not by wondering.
    private func nameCloud() {
        let isNamed = (hasDatabase ? store : path) != nil
        if !isNamed { printError("In \(storePlace):") }
    }

    /// Runs `body` on the accounts of the cloud, also while a server runs on it.
    ///
    /// - Parameter isNew: Whether the cloud begins here if there is none.
    func withAccounts<Result: Sendable>(
        beginningCloud isNew: Bool = false, _ body: (Accounts) async throws -> Result
    ) async throws -> Result {
        guard isNew, !dataFolder.hasStore else {
            return try await withExistingStore {
                try await body(Accounts(store: $0, time: .system, randomness: .system))
            }
        }
        let result = try await withStore {
            try await body(Accounts(store: $0, time: .system, randomness: .system))
        }
        // No result: what was done is printed by the command.
        announce("There was no cloud in \(shortPath); a new one was begun.")
        return result
    }

    /// Runs `body` on the webhooks of the cloud, also while a server runs on it.
    func withWebhooks<Result: Sendable>(
        _ body: (Webhooks) async throws -> Result
    ) async throws -> Result {
        try await withExistingStore {
            try await body(Webhooks(store: $0, time: .system, randomness: .system))
        }
    }

    private func withStore<Result: Sendable>(
        _ body: (any Store) async throws -> Result
    ) async throws -> Result {
        let store = try dataFolder.openStore(
            for: .administering, time: .system, randomness: .system
        )
        do {
            let result = try await body(store)
            try await store.close()
            return result
        } catch {
            try await store.close()
            if let error = error as? OperatorError { throw error.naming(commandsWith: hint) }
            throw (error as? StoreUnavailable).map { trouble(with: $0) } ?? error
        }
    }

    /// The sentence for the person at the machine.
    private func trouble(with error: StoreUnavailable) -> OperatorError {
        switch error.cause {
        case .diskIsFull:
            OperatorError("The disk of \(storePlace) is full, so the cloud could not be changed.")
        case .diskFails:
            OperatorError(
                "The disk of \(storePlace) has failed, so the cloud could not be changed: \(error.detail)."
            )
        case .isLocked:
            OperatorError("Another program is using the cloud in \(storePlace); try again.")
        case .isReadOnly:
            OperatorError("The files in \(shortPath) cannot be written: \(error.detail).")
        case .isUnreachable:
            OperatorError("The database of the cloud cannot be reached: \(error.detail).")
        case .isGone: OperatorError("The folder \(shortPath) has disappeared; put it back.")
        }
    }
}
