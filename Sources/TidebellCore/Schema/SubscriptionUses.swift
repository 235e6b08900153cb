// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The query subscriptions of a container in one environment, by what they ask for: a schema that
/// changes may silence them (SUB-26), and production may lack what they need (SUB-42).
package struct SubscriptionUses: Sendable, Hashable {
    /// The most subscriptions that are counted; of more, others are left out.
    package static let most = 100_000
    /// How many one read brings.
    private static let perRead = 500
    /// The bytes of JSON that one read brings.
    private static let bytesPerRead = 1 << 20

    /// How many there are of each.
    package var counts: [QueryUse: Int]

    package init(_ counts: [QueryUse: Int] = [:]) {
        self.counts = counts
    }

    /// Counts the subscriptions of an environment, in reads of a bounded size.
    package init(of container: ContainerKey, in store: any Store) async throws {
        self.init()
        var (last, count) = (SubscriptionSerial.start, 0)
        while count < Self.most {
            let (found, next) = try await store.read { [last] reader in
                let serials = try reader.querySubscriptions(
                    of: container, after: last, limit: Self.perRead)
                let page = try reader.subscriptions(serials, byteLimit: Self.bytesPerRead)
                let isCut = page.bytes >= Self.bytesPerRead
                return (
                    page.subscriptions,
                    isCut ? page.subscriptions.last?.serial ?? serials.last : serials.last
                )
            }
            guard let next else { return }
            for stored in found {
                if let use = QueryUse(stored.subscription) { counts[use, default: 0] += 1 }
            }
            (last, count) = (next, count + Self.perRead)
        }
    }

    /// Returns those that fire by one schema and would not by another that takes its place, a
    /// sentence each.
    func silenced(
        from old: SchemaDefinition, to new: SchemaDefinition
    ) -> [String] {
        sentences { use in
            guard use.shortfall(in: old) == nil else { return nil }
            return use.shortfall(in: new)
        }
    }

    /// Returns what the operator is warned of where those fire no more.
    static func warnings(silenced: [String]) -> [String] {
        silenced.map { "no longer fires: \($0)" }
    }

    /// Returns those that a schema lacks something for, a sentence each.
    func unserved(by schema: SchemaDefinition) -> [String] {
        sentences { $0.shortfall(in: schema) }
    }

    private func sentences(_ missing: (QueryUse) -> String?) -> [String] {
        counts.sorted { $0.key.order < $1.key.order }.compactMap { use, count in
            missing(use).map { "\(use.quote(count: count)) without \($0)" }
        }
    }
}

extension QueryUse {
    /// What a schema lacks for it, such as `the index QUERYABLE of Note.title`.
    fileprivate func shortfall(in schema: SchemaDefinition) -> String? {
        guard let type = schema.types[recordType] else { return "the record type \(recordType)" }
        for case .field(let name, _) in needs
        where SchemaSystemField(rawValue: name) == nil && type.fields[name] == nil {
            return "the field \(recordType).\(name)"
        }
        return type.missing(needs)?.missing(in: recordType)
    }
}
