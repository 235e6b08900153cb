// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKQuerySubscription {
    /// The archived state of a query subscription.
    struct Values: ArchiveValue {
        /// What all kinds of subscriptions keep.
        var common: Common

        /// What the subscription watches.
        var query: Query

        /// The only zone whose records count.
        var zoneID: CKRecordZoneID?

        static var kind: ArchiveKind { .querySubscription }
    }
}

extension CKQuerySubscription.Query: Equatable {
    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.recordType == rhs.recordType && lhs.options == rhs.options
            && PredicateArchive.isEqual(lhs.predicate, rhs.predicate)
    }
}

extension CKQuerySubscription.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        common = try CKSubscription.Common(from: &reader)
        query = CKQuerySubscription.Query(
            recordType: try reader.string(),
            predicate: try PredicateArchive.predicate(from: &reader),
            options: CKQuerySubscription.Options(rawValue: UInt(try reader.uint32()))
        )
        zoneID = try reader.optionalZoneID()
    }

    func write(to writer: inout BlobWriter) {
        common.write(to: &writer)
        writer.write(query.recordType)
        PredicateArchive.write(query.predicate, to: &writer)
        writer.write(UInt32(truncatingIfNeeded: query.options.rawValue))
        writer.write(zoneID) { $0.write($1) }
    }
}
