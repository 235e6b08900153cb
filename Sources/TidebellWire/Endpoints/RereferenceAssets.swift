// SPDX-License-Identifier: Apache-2.0

/// `assets/rereference`: stored files for further records (web-services 5.9).
package enum RereferenceAssets: WireEndpoint {
    package static let route = WireRoute(.database("assets/rereference"), .reads)

    /// A field that holds a file.
    package struct Source: Sendable, Hashable {
        package var recordName: String
        package var fieldName: String

        /// Creates a source.
        package init(recordName: String, fieldName: String) {
            self.recordName = recordName
            self.fieldName = fieldName
        }
    }

    /// The request.
    package struct Request: Sendable, Hashable {
        package var zoneID: ZoneID
        /// The zone of the further records; nil is the same.
        package var targetZoneID: ZoneID?
        package var assets: [Source]

        /// Creates a request.
        package init(zoneID: ZoneID, targetZoneID: ZoneID? = nil, assets: [Source]) {
            self.zoneID = zoneID
            self.targetZoneID = targetZoneID
            self.assets = assets
        }

        /// Reads a request.
        package init(from reader: inout JSONReader) throws {
            var target: ZoneID?
            let (zoneID, assets) = try reader.readZoneItems(
                "assets",
                other: { reader, name in
                    guard name == "targetZoneID" else { return false }
                    target = try ZoneID(from: &reader)
                    return true
                }
            ) { try Source(from: &$0) }
            self.init(zoneID: zoneID, targetZoneID: target, assets: assets)
        }
    }

    /// The answer: one dictionary with a receipt, or an error, for each source, in order.
    package struct Response: Sendable {
        package var assets: [Result<WireAsset, WireError>]

        /// Creates an answer.
        package init(assets: [Result<WireAsset, WireError>]) {
            self.assets = assets
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("assets")
                writer.array(assets) { writer, result in
                    switch result {
                    case .success(let asset): asset.write(to: &writer)
                    case .failure(let error): error.write(to: &writer)
                    }
                }
            }
        }
    }
}

extension RereferenceAssets.Source {
    fileprivate init(from reader: inout JSONReader) throws {
        var recordName: String?
        var fieldName: String?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordName": recordName = try reader.readName()
            case "fieldName": fieldName = try reader.readName()
            default: try reader.skipValue()
            }
        }
        guard let recordName else { throw JSONError("missing required field 'recordName'") }
        guard let fieldName else { throw JSONError("missing required field 'fieldName'") }
        self.init(recordName: recordName, fieldName: fieldName)
    }
}
