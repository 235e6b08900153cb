// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A search for records of one type that match a predicate, with the order of the results
/// (QUERY-1).
///
/// ```swift
/// let query = CKQuery(
///     recordType: "Note",
///     predicate: NSPredicate(format: "state == %@ AND title BEGINSWITH %@", "draft", "Sea"))
/// query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
/// let (matches, cursor) = try await database.records(matching: query, resultsLimit: 20)
/// ```
///
/// Compares by identity, as Apple's class does.
/// See <https://developer.apple.com/documentation/cloudkit/ckquery>.
open class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: type and predicate are constants (predicates do not change once made),
    // the sort descriptors, which do not change either, are behind a lock.
    private let type: CKRecord.RecordType
    private let condition: NSPredicate
    private let sorting: Locked<[NSSortDescriptor]?>

    /// Creates a query whose results have no order.
    ///
    /// A predicate that CloudKit does not support is refused when the query is used.
    ///
    /// - Precondition: `recordType` is not empty (QUERY-1).
    public convenience init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        precondition(!recordType.isEmpty, "The record type of a query must not be empty.")
        self.init(unchecked: recordType, predicate, sortDescriptors: nil)
    }

    private init(
        unchecked recordType: CKRecord.RecordType,
        _ predicate: NSPredicate,
        sortDescriptors: [NSSortDescriptor]?
    ) {
        type = recordType
        condition = predicate
        sorting = Locked(sortDescriptors)
        super.init()
    }

    /// Reads a query from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// is a query that finds nothing.
    public required init(coder: NSCoder) {
        let values = coder.decodeArchiveBlob(Values.self)
        if values == nil { coder.failDecoding(of: CKQuery.self) }
        type = values?.recordType ?? ""
        condition = values?.predicate ?? NSPredicate(value: false)
        sorting = Locked(values?.sortKeys.map { $0.map(\.descriptor) })
        super.init()
    }

    /// Always true: queries support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the query to a keyed archive.
    ///
    /// - Precondition: The predicate was made from a format, a constant or from such predicates,
    ///   and every sort descriptor from a key; blocks cannot be archived.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(
            Values(
                recordType: type,
                predicate: condition,
                sortKeys: sorting.current?.map { SortKey($0) }
            )
        )
    }

    /// The type of the records; it cannot be changed.
    open var recordType: CKRecord.RecordType { type }

    /// What the records have in common; fixed.
    // NB: the object itself, see ``CKQuerySubscription/predicate``.
    open var predicate: NSPredicate { condition }

    /// How the results are sorted, by the first descriptor first; nil for no order.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { sorting.current }
        set { sorting.current = newValue }
    }

    /// Returns a query with the same type, predicate and order.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKQuery(unchecked: type, condition, sortDescriptors: sorting.current)
    }

    /// Type, predicate and order as text, for logs and debuggers.
    open override var description: String {
        let predicate = PredicateTree(condition)?.description ?? "<a block>"
        let keys = (sorting.current ?? []).map { $0.key ?? "<a key path>" }
        return "<CKQuery: recordType=\(type), predicate=\(predicate), "
            + "sortDescriptors=[\(keys.joined(separator: ", "))]>"
    }
}

extension CKQuery {
    /// The archived state of a query.
    struct Values: ArchiveValue {
        var recordType: CKRecord.RecordType
        var predicate: NSPredicate
        var sortKeys: [SortKey]?

        static var kind: ArchiveKind { .query }
    }
}

extension CKQuery.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        recordType = try reader.string()
        predicate = try PredicateArchive.predicate(from: &reader)
        guard try reader.bool() else { return }
        var keys: [SortKey] = []
        for _ in 0..<(try reader.count()) { keys.append(try SortKey(from: &reader)) }
        sortKeys = keys
    }

    func write(to writer: inout BlobWriter) {
        writer.write(recordType)
        PredicateArchive.write(predicate, to: &writer)
        writer.write(sortKeys != nil)
        guard let sortKeys else { return }
        writer.write(count: sortKeys.count)
        for key in sortKeys { key.write(to: &writer) }
    }
}
