// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension CheckSchema {
    /// The most uses of a container that are remembered, the last ones.
    package static let mostUses = 1000
    /// How many queries a shortfall quotes.
    static let mostQuotes = 5

    /// Something that development used and the schema lacks.
    package struct Shortfall: Sendable, Hashable {
        /// What is missing, such as `the field Note.size INT64`.
        package var what: String
        /// Which queries and subscriptions of the app need it, as code writes them.
        package var quotes: [String]

        package init(_ what: String, quotes: [String] = []) {
            self.what = what
            self.quotes = quotes
        }

        /// The sentence.
        package var description: String {
            guard let first = quotes.first else { return what }
            let shown = quotes.prefix(CheckSchema.mostQuotes)
            let left = quotes.count - shown.count
            return quotes.count == 1
                ? "\(what), for \(first)"
                : "\(what), for " + shown.joined(separator: "; ")
                    + (left > 0 ? "; and \(left) more" : "")
        }
    }

    /// Returns what a container's apps used in development that production, or a schema that is
    /// to be, lacks: types and fields they saved, indexes and subscription types they asked for,
    /// roles and grants.
    ///
    /// - Parameters:
    ///   - file: The schema to hold it against, as a `.ckdb` file; nil or empty for production's.
    ///   - pending: Uses that the store does not have yet.
    ///   - subscriptions: Those of development.
    package static func run(
        _ container: String, against file: String? = nil, and pending: [QueryUse] = [],
        subscriptions: SubscriptionUses = SubscriptionUses(), limits: Limits = Limits(),
        in reader: some SchemaReading
    ) throws -> [Shortfall] {
        let (development, production) = (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
        try development.check()
        let used = try reader.schemaDefinition(of: development)
        let target =
            if let file, !file.isEmpty {
                try ImportSchema.parse(file, limits: limits).schema
            } else {
                try reader.schemaDefinition(of: production)
            }
        let uses = try Set(pending).union(reader.queryUses(in: development, limit: mostUses))
            .union(subscriptions.counts.keys)
            .sorted { $0.order < $1.order }
            .map { (use: $0, quote: $0.quote(count: subscriptions.counts[$0] ?? 1)) }
        let changes = SchemaChange.changes(from: target, to: used)
        let differing = try reader.differingPrivateFields(in: development, limit: mostUses)
        return changes.compactMap { shortfall($0, uses) } + indexShortfalls(uses, target)
            + differing.filter { !$0.suits(target) }.map { Shortfall($0.words) }
    }

    /// A use and how it is named.
    private typealias Quoted = (use: QueryUse, quote: String)

    private static func shortfall(_ change: SchemaChange, _ uses: [Quoted]) -> Shortfall? {
        switch change {
        case .addRole(let role): return Shortfall("the role \(role)")
        case .addType(let type):
            let quotes = uses.filter { $0.use.recordType == type }.map(\.quote)
            return Shortfall("the record type \(type)", quotes: quotes)
        case .addField(let name, let type, let field):
            let quotes = uses.filter { $0.use.recordType == type && $0.use.asks(for: name) }
                .map(\.quote)
            return Shortfall(
                "the field \(type).\(SchemaText.quoted(name)) \(SchemaText.typeText(of: field))",
                quotes: quotes)
        case .changeField(let name, let type, let old, let new):
            return Shortfall(
                "the field \(type).\(name) as \(SchemaText.typeText(of: new)): it is "
                    + SchemaText.typeText(of: old))
        case .changeRights(let role, let type, let old, let new):
            let missing = new.subtracting(old)
            return missing.isEmpty
                ? nil : Shortfall("GRANT \(missing.text) TO \(role) of \(type)")
        // An index counts where something asks for it.
        case .addIndexes, .dropIndexes, .removeRole, .removeType, .removeField: return nil
        }
    }

    private static func indexShortfalls(
        _ uses: [Quoted], _ target: SchemaDefinition
    ) -> [Shortfall] {
        var quotes: [(what: String, quotes: [String])] = []
        for (use, quote) in uses {
            guard let type = target.types[use.recordType] else { continue }
            for need in use.needs where type.missing([need]) != nil {
                let what = need.missing(in: use.recordType)
                if let index = quotes.firstIndex(where: { $0.what == what }) {
                    quotes[index].quotes.append(quote)
                } else {
                    quotes.append((what, [quote]))
                }
            }
        }
        return quotes.map { Shortfall($0.what, quotes: $0.quotes) }
    }
}

extension QueryUse {
    /// Whether it compares a field or is sorted by it.
    fileprivate func asks(for field: String) -> Bool {
        needs.contains {
            if case .field(field, _) = $0 { true } else { false }
        }
    }
}

extension IndexNeed {
    /// The index as something that a type lacks.
    func missing(in type: String) -> String {
        switch self {
        case .field(let name, let index): "the index \(index.text) of \(type).\(name)"
        case .anyText: "the index SEARCHABLE of any field of \(type)"
        }
    }
}
