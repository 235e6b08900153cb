// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellCore
import TidebellWire

extension TestCloud {
    /// Simulates that the user deletes the app's iCloud data in Settings: all custom zones of the
    /// private database are purged.
    ///
    /// Apps must delete their local data and not upload it again; see
    /// `recordZoneWithIDWasPurgedBlock` of `CKFetchDatabaseChangesOperation`.
    ///
    /// ```swift
    /// try await cloud.purgeData(of: "anna")
    /// ```
    public func purgeData(of user: String, environment: Environment = .development) async throws {
        try await state.loseZones(of: user, environment: environment, reason: .purged)
    }

    /// Simulates that the user resets their encrypted data: all custom zones of the private
    /// database are deleted for that reason.
    ///
    /// Apps should upload their local data again; see
    /// `recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock` of
    /// `CKFetchDatabaseChangesOperation`.
    public func resetEncryptedData(
        of user: String,
        environment: Environment = .development
    ) async throws {
        try await state.loseZones(of: user, environment: environment, reason: .encryptedDataReset)
    }
}

extension CloudState {
    /// Deletes the custom zones of a user's private database in the default
    /// container; no device is the origin, so all are notified.
    fileprivate func loseZones(
        of user: String,
        environment: TestCloud.Environment,
        reason: ZoneDeletionReason
    ) async throws {
        let now = clock.instant
        let environment = CloudEnvironment(rawValue: environment.rawValue) ?? .development
        let container = ContainerKey(container: defaultContainer, environment: environment)
        let store = try running().store
        let owner = try await store.read { reader in
            try reader.account(named: user).flatMap { try reader.user(of: $0, in: container) }
        }
        guard let owner else { return }
        let key = DatabaseKey(container: container, scope: .private, owner: owner.id)
        try await store.write(.database(key)) { transaction in
            let database = try transaction.makeDatabase(key)
            let zones = try transaction.zones(nil, in: database.id)
                .filter { $0.name != ZoneID.defaultName }
            guard !zones.isEmpty else { return }
            var position = try transaction.advance(
                database.id, by: zones.count, at: now
            )
            for zone in zones {
                try transaction.deleteZone(
                    zone, of: database, at: position, reason: reason, now: now
                )
                position = position.advanced(by: 1)
            }
        }
    }
}
