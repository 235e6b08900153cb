// SPDX-License-Identifier: Apache-2.0

/// What a query asks for (web-services 4.5): records of one type that pass all
/// filters, in an order.
package struct WireQuery: Sendable, Hashable {
    package var recordType: String
    /// ANDed (QUERY-3).
    package var filters: [WireFilter]
    /// None leaves the order to the server (QUERY-1).
    package var sorts: [WireSort]

    /// Creates a query.
    package init(recordType: String, filters: [WireFilter] = [], sorts: [WireSort] = []) {
        self.recordType = recordType
        self.filters = filters
        self.sorts = sorts
    }
}

extension WireQuery {
    /// Reads a query; whether it makes sense is for the rules to decide.
    package init(from reader: inout JSONReader) throws {
        var recordType: String?
        var filters: [WireFilter] = []
        var sorts: [WireSort] = []
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordType": recordType = try reader.readName()
            case "filterBy": filters = try reader.readList { try WireFilter(from: &$0) }
            case "sortBy": sorts = try reader.readList { try WireSort(from: &$0) }
            default: try reader.skipValue()
            }
        }
        guard let recordType else { throw JSONError("missing required field 'recordType'") }
        self.init(recordType: recordType, filters: filters, sorts: sorts)
    }

    /// Writes the query.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordType", recordType)
            writer.key("filterBy")
            writer.array(filters) { $1.write(to: &$0) }
            writer.key("sortBy")
            writer.array(sorts) { $1.write(to: &$0) }
        }
    }
}
