// SPDX-License-Identifier: Apache-2.0

/// What all calls of a cloud have in common.
package struct CallSurroundings: Sendable {
    /// The store's identity, part of every sync token.
    package var storeIdentity: UInt64
    /// The limits in force.
    package var limits: Limits
    /// The schemas that calls before asked for, of the same store.
    package var schemas = SchemaCache()
    /// Where is noted what development asks for.
    package var queryUses = QueryUses()
    /// Encrypts the fields that are to be encrypted.
    package var fieldCipher: any FieldCipher = NoFieldCipher()
    /// The key that makes the URLs of shares.
    package var shareURLKey: [UInt8] = []
    /// Makes the continuation markers of queries.
    package var markerSeal = MarkerSeal()
    /// How the store's operator finds what is damaged.
    package var damageSearch = DamageSearch.check

    /// Called with zone and record of every record that was asked for and is damaged; without a
    /// record where the key of the zone's encrypted fields is.
    package var reportDamage:
        @Sendable (_ call: Call, _ zoneName: String, _ recordName: String?) -> Void = { _, _, _ in }

    /// Called with the ID of every subscription that was asked for and is damaged.
    package var reportDamagedSubscription:
        @Sendable (_ call: Call, _ subscriptionID: String) -> Void = { _, _ in }

    /// Called with what was let through although Apple refuses it, and a sentence about that.
    package var reportLeniency:
        @Sendable (_ call: Call, _ subject: String, _ warning: String) -> Void = { _, _, _ in }

    /// Called with how a page of a query was found, also where that failed.
    package var noteQuery: @Sendable (QueryReport) -> Void = { _ in }

    /// Creates the surroundings of calls.
    package init(storeIdentity: UInt64, limits: Limits) {
        self.storeIdentity = storeIdentity
        self.limits = limits
    }
}

extension Call {
    /// Surroundings that many calls have.
    package final class Shared: Sendable {
        fileprivate let surroundings: CallSurroundings

        package init(_ surroundings: CallSurroundings) { self.surroundings = surroundings }
    }

    private mutating func change(_ body: (inout CallSurroundings) -> Void) {
        var surroundings = shared.surroundings
        body(&surroundings)
        shared = Shared(surroundings)
    }

    /// ``CallSurroundings/storeIdentity``
    package var storeIdentity: UInt64 {
        get { shared.surroundings.storeIdentity }
        set { change { $0.storeIdentity = newValue } }
    }

    /// ``CallSurroundings/limits``
    package var limits: Limits {
        get { shared.surroundings.limits }
        set { change { $0.limits = newValue } }
    }

    /// ``CallSurroundings/schemas``
    package var schemas: SchemaCache {
        get { shared.surroundings.schemas }
        set { change { $0.schemas = newValue } }
    }

    /// ``CallSurroundings/noteQuery``
    package var noteQuery: @Sendable (QueryReport) -> Void {
        get { shared.surroundings.noteQuery }
        set { change { $0.noteQuery = newValue } }
    }

    /// ``CallSurroundings/queryUses``
    package var queryUses: QueryUses { shared.surroundings.queryUses }
    /// ``CallSurroundings/fieldCipher``
    package var fieldCipher: any FieldCipher { shared.surroundings.fieldCipher }
    /// ``CallSurroundings/shareURLKey``
    package var shareURLKey: [UInt8] { shared.surroundings.shareURLKey }
    /// ``CallSurroundings/markerSeal``
    package var markerSeal: MarkerSeal { shared.surroundings.markerSeal }
    /// ``CallSurroundings/damageSearch``
    package var damageSearch: DamageSearch { shared.surroundings.damageSearch }

    /// Notes that a record is damaged that was asked for, or the key of a zone's encrypted fields.
    func reportDamage(_ zoneName: String, _ recordName: String?) {
        shared.surroundings.reportDamage(self, zoneName, recordName)
    }

    /// Notes that a subscription is damaged that was asked for.
    func reportDamagedSubscription(_ subscriptionID: String) {
        shared.surroundings.reportDamagedSubscription(self, subscriptionID)
    }

    /// Notes what was let through although Apple refuses it, and a sentence about that.
    func reportLeniency(_ subject: String, _ warning: String) {
        shared.surroundings.reportLeniency(self, subject, warning)
    }
}
