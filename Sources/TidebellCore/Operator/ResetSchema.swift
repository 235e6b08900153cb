// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives development the schema that production has, and removes its data (ENV-8).
///
/// Users, devices and subscriptions stay, but for those on a zone, which go with it (SUB-65).
extension ResetSchema {
    /// Custom zones that one step deletes; what is in a large one goes later.
    static let zonesPerStep = 100
    /// Steps that one request to the API takes.
    package static let stepsPerRequest = 500

    /// What a reset came to.
    package struct Outcome: Sendable, Hashable {
        package var changes: [SchemaChange] = []
        /// Subscriptions of development that fire no more, and why, a sentence each (SUB-26).
        package var silenced: [String] = []
        /// Custom zones that were deleted.
        package var zones = 0
        /// Records that went, those of deleted zones too.
        package var records = 0
        /// The last database that is done, where others are left; nil where nothing is.
        package var next: DatabaseID?

        package init() {}

        /// What the operator is warned of, a sentence each.
        package var warnings: [String] { SubscriptionUses.warnings(silenced: silenced) }
    }

    /// What a step removed.
    package struct Removed: Sendable, Hashable {
        package var zones = 0
        package var records = 0
        /// Whether nothing is left in the database.
        package var isEmpty = false
    }

    /// Replaces development's schema; returns what changed, and which subscriptions that silences.
    ///
    /// - Parameter subscriptions: Those of development.
    package static func run(
        _ container: String, subscriptions: SubscriptionUses = SubscriptionUses(),
        in transaction: some SchemaWriting
    ) throws -> Outcome {
        let (development, production) = (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
        try development.check()
        let deployed = try transaction.schemaDefinition(of: production)
        let before = try transaction.schemaDefinition(of: development)
        var outcome = Outcome()
        outcome.changes = SchemaChange.changes(from: before, to: deployed)
        outcome.silenced = subscriptions.silenced(from: before, to: deployed)
        if !outcome.changes.isEmpty {
            try transaction.replaceSchema(with: deployed, in: development)
        }
        return outcome
    }

    /// Removes some of what a database of development holds, and with the last of it lets the tokens
    /// of all its devices expire (ENV-9).
    ///
    /// Devices are notified of zones as of others that nobody deleted in particular. What is shared
    /// leaves the databases of participants as when its owner ends it.
    package static func step(
        _ id: DatabaseID, at now: Instant, in transaction: some ZoneDeleting
    ) throws -> Removed {
        guard let database = try transaction.database(id: id),
            database.key.container.environment == .development
        else { return Removed(isEmpty: true) }
        var removed = Removed()
        // Those of a shared database are others', whose databases have steps of their own.
        let zones =
            database.key.scope.holdsZonesOfOthers ? [] : try transaction.zones(nil, in: id)
        let custom = zones.filter { $0.name != ZoneID.defaultName }
        for zone in custom.prefix(zonesPerStep) {
            try transaction.giveUpZone(zone, of: database, reason: .deleted, now: now)
            removed.zones += 1
        }
        if custom.count <= zonesPerStep {
            removed.isEmpty = true
            // Nothing happened since the last time. A trace that was removed raises the floor as well.
            let isFresh =
                database.floor == database.head && custom.isEmpty && database.use == .zero
            if !isFresh {
                for zone in zones where zone.name == ZoneID.defaultName && zone.position != .start {
                    try transaction.giveUpZone(zone, of: database, reason: .deleted, now: now)
                }
                let position = try transaction.advance(id, by: 1, at: now)
                try transaction.expireTokens(of: id, before: position)
            }
        }
        let left = try transaction.database(id: id)?.use.records ?? 0
        removed.records = database.use.records - left
        return removed
    }
}
