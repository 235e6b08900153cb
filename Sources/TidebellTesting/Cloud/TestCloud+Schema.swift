// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellServer
import TidebellWire

extension TestCloud {
    /// Gives production what development's schema has, as `tidebell schema deploy` and CloudKit's
    /// console do: types, fields and indexes, never records (ENV-2).
    ///
    /// Until then, devices in production cannot save what they need (ENV-1):
    ///
    /// ```swift
    /// try await phone.privateCloudDatabase.save(note)    // in development
    /// try await cloud.deploySchema()
    /// let released = try await cloud.device(user: "anna", environment: .production)
    /// ```
    ///
    /// - Parameter container: Whose; nil for that of `CKContainer.default()`.
    /// - Throws: ``TestCloudError/misuse(_:)`` with the reason where the deployment is refused.
    public func deploySchema(of container: String? = nil) async throws {
        let name = container ?? state.defaultContainer
        try await reporting {
            _ = try await state.running().schemas.deploy(
                name, by: "test", at: state.clock.instant)
        }
    }

    /// Fails with what devices used in development that a schema lacks: types and fields they
    /// saved, and the indexes that their queries and subscriptions need, which are quoted.
    ///
    /// At the end of tests in development it finds what production would refuse:
    ///
    /// ```swift
    /// try await cloud.checkSchema("App.ckdb")
    /// // the field Note.size INT64, for the query Note: size > %@
    /// ```
    ///
    /// - Parameter path: The `.ckdb` file; nil for the schema that production has.
    /// - Throws: ``TestCloudError/schemaLacks(_:)``; ``TestCloudError/misuse(_:)`` for a file that
    ///   is no schema, with line and column.
    public func checkSchema(_ path: String? = nil) async throws {
        let file = try path.map { try text(at: $0) }
        let server = try state.running()
        let development = ContainerKey(
            container: state.defaultContainer, environment: .development)
        let pending = server.queryUses.pending(of: development)
        let missing = try await reporting {
            try await server.schemas.check(
                state.defaultContainer, against: file, and: pending)
        }
        guard missing.isEmpty else {
            throw TestCloudError.schemaLacks(missing.map(\.description))
        }
    }

    /// Gives development another schema, as `tidebell schema import` does: what it lacks goes, unless
    /// production has it, which refuses the import.
    ///
    /// - Parameters:
    ///   - text: The schema in the CloudKit Schema Language.
    ///   - container: Whose; nil for that of `CKContainer.default()`.
    /// - Throws: ``TestCloudError/misuse(_:)`` with line, column and reason.
    public func importSchema(_ text: String, of container: String? = nil) async throws {
        let name = container ?? state.defaultContainer
        try await reporting { _ = try await state.running().schemas.import(text, into: name) }
    }

    /// Gives development the schema of production and removes all of its records and zones, as
    /// `tidebell schema reset` and the reset of CloudKit's console do (ENV-8).
    ///
    /// The change tokens of all devices in development expire (ENV-9); subscriptions stay, but for
    /// those on a zone.
    ///
    /// ```swift
    /// try await cloud.resetSchema()
    /// // The next fetch fails with changeTokenExpired: the app begins anew, without a token.
    /// ```
    ///
    /// - Parameter container: Whose; nil for that of `CKContainer.default()`.
    public func resetSchema(of container: String? = nil) async throws {
        let name = container ?? state.defaultContainer
        try await reporting {
            _ = try await state.running().schemas.reset(name, at: state.clock.instant)
        }
    }

    /// Gives both environments the schema of a file.
    func useSchema(_ path: String) async throws {
        let file = try text(at: path)
        let schemas = try state.running().schemas
        try await reporting {
            _ = try await schemas.import(file, into: state.defaultContainer)
            _ = try await schemas.deploy(
                state.defaultContainer, by: path, at: state.clock.instant)
        }
    }

    private func text(at path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw TestCloudError.misuse(
                "The schema '\(path)' cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns what `body` does; what an operator can put right is a test's to put right.
    private func reporting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as OperatorError {
            throw TestCloudError.misuse(error.description)
        }
    }

    /// Returns the schema of an environment in the CloudKit Schema Language, as a `.ckdb` file has
    /// it (web-services 7).
    ///
    /// - Parameters:
    ///   - container: Whose; nil for that of `CKContainer.default()`.
    ///   - environment: Of which environment.
    /// - Returns: The text of the file.
    public func exportSchema(
        of container: String? = nil, _ environment: Environment = .development
    ) async throws -> String {
        let key = ContainerKey(
            container: container ?? state.defaultContainer,
            environment: environment == .development ? .development : .production)
        return try await state.running().schemas.export(key)
    }
}
