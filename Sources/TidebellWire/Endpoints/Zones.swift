// SPDX-License-Identifier: Apache-2.0

/// The answer of `zones/list`, `zones/lookup` and `zones/modify`
/// (web-services 5.8).
package struct ZonesResponse: WireBody, Hashable {
    package var zones: [ZoneResult]
    /// Whether zones carry `atomic`, which iCloud.com's flavour leaves out.
    package var sendsAtomic = true

    /// Creates an answer.
    package init(zones: [ZoneResult]) {
        self.zones = zones
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { $1.write(to: &$0, sendsAtomic: sendsAtomic) }
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(zones: try reader.readMemberList("zones") { try ZoneResult(from: &$0) })
    }
}

/// `zones/list` (web-services 5.8). By GET, the answer shows which zones are atomic.
package enum ListZones: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = ZonesResponse
    package static let route = WireRoute(
        .database("zones/list"), by: .getOrPost, for: .reader, .reads)
}

/// `zones/lookup`.
package enum LookupZones: WireEndpoint {
    package typealias Response = ZonesResponse
    package static let route = WireRoute(.database("zones/lookup"), for: .reader, .reads)

    /// The request.
    package struct Request: WireBody, Hashable {
        package var zones: [ZoneID]

        /// Creates a request.
        package init(zones: [ZoneID]) {
            self.zones = zones
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            zones = try reader.readMemberList("zones") { try ZoneID(from: &$0) }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("zones")
                writer.array(zones) { $1.write(to: &$0) }
            }
        }
    }
}

/// `zones/modify`.
package enum ModifyZones: WireEndpoint {
    package typealias Response = ZonesResponse
    package static let route = WireRoute(.database("zones/modify"), .writes)

    /// One operation of a request.
    package enum Operation: Sendable, Hashable {
        case create(ZoneID)
        case delete(ZoneID)

        /// The zone it is about.
        package var zoneID: ZoneID {
            switch self {
            case .create(let zoneID), .delete(let zoneID): zoneID
            }
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var operations: [Operation]

        /// Creates a request.
        package init(operations: [Operation]) {
            self.operations = operations
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            operations = try reader.readMemberList("operations") {
                try Operation(from: &$0)
            }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("operations")
                writer.array(operations) { writer, operation in
                    writer.object { writer in
                        if case .create = operation {
                            writer.member("operationType", "create")
                        } else {
                            writer.member("operationType", "delete")
                        }
                        writer.key("zone")
                        writer.object { writer in
                            writer.key("zoneID")
                            operation.zoneID.write(to: &writer)
                        }
                    }
                }
            }
        }
    }
}

extension ModifyZones.Operation {
    fileprivate init(from reader: inout JSONReader) throws {
        var type: String?
        var zoneID: ZoneID?
        try reader.readObject { reader, name in
            switch name {
            case "operationType": type = try reader.readName()
            case "zone":
                try reader.readObject { reader, name in
                    if name == "zoneID" {
                        zoneID = try ZoneID(from: &reader)
                    } else {
                        try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
        guard let zoneID else { throw JSONError("missing required field 'zoneID'") }
        switch type {
        case "create": self = .create(zoneID)
        case "delete": self = .delete(zoneID)
        case nil: throw JSONError("missing required field 'operationType'")
        case let other?: throw JSONError("unknown operation type \"\(other)\"")
        }
    }
}
