// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `changes/zone` (web-services 5.6).
package enum FetchZoneChanges: WireEndpoint {
    package static let route = WireRoute(.database("changes/zone"), for: .reader, .reads)

    /// How one zone is fetched; nil leaves it to the request's default.
    package struct Options: Sendable, Hashable {
        package var resultsLimit: Int?
        package var desiredKeys: [String]?
        package var desiredRecordTypes: [String]?
        package var reverse: Bool?
        package var numbersAsStrings: Bool?

        /// Creates options.
        package init(
            resultsLimit: Int? = nil,
            desiredKeys: [String]? = nil,
            desiredRecordTypes: [String]? = nil,
            reverse: Bool? = nil,
            numbersAsStrings: Bool? = nil
        ) {
            self.resultsLimit = resultsLimit
            self.desiredKeys = desiredKeys
            self.desiredRecordTypes = desiredRecordTypes
            self.reverse = reverse
            self.numbersAsStrings = numbersAsStrings
        }

        /// Returns these options, with `defaults` where nothing is set.
        package func merged(over defaults: Options) -> Options {
            Options(
                resultsLimit: resultsLimit ?? defaults.resultsLimit,
                desiredKeys: desiredKeys ?? defaults.desiredKeys,
                desiredRecordTypes: desiredRecordTypes ?? defaults.desiredRecordTypes,
                reverse: reverse ?? defaults.reverse,
                numbersAsStrings: numbersAsStrings ?? defaults.numbersAsStrings
            )
        }
    }

    /// One zone of a request.
    package struct Zone: Sendable, Hashable {
        package var zoneID: ZoneID
        package var syncToken: String?
        package var options: Options

        /// Creates a zone request.
        package init(zoneID: ZoneID, syncToken: String? = nil, options: Options = Options()) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.options = options
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var zones: [Zone]
        package var options: Options

        /// Creates a request.
        package init(zones: [Zone], options: Options = Options()) {
            self.zones = zones
            self.options = options
        }
    }

    /// One zone of an answer.
    package enum ZoneAnswer: Sendable, Hashable {
        case changes(Page)
        case failed(ZoneID, WireError)
    }

    /// A page of a zone's changes.
    package struct Page: Sendable, Hashable {
        package var zoneID: ZoneID
        package var syncToken: String
        package var moreComing: Bool
        package var records: [RecordResult]
        /// The token of the newest modify request that gave one (TOK-24); an
        /// extension.
        package var clientChangeToken: [UInt8]?

        /// Creates a page.
        package init(
            zoneID: ZoneID,
            syncToken: String,
            moreComing: Bool,
            records: [RecordResult],
            clientChangeToken: [UInt8]? = nil
        ) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.moreComing = moreComing
            self.records = records
            self.clientChangeToken = clientChangeToken
        }
    }

    /// The answer.
    package struct Response: WireBody, Hashable {
        package var zones: [ZoneAnswer]

        /// Creates an answer.
        package init(zones: [ZoneAnswer]) {
            self.zones = zones
        }
    }
}

extension FetchZoneChanges.Options {
    /// Reads a member of an object that holds options.
    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        guard try !reader.readNull() else { return }
        switch name {
        case "resultsLimit": resultsLimit = try reader.readInt()
        case "desiredKeys": desiredKeys = try reader.readDesiredNames()
        case "desiredRecordTypes": desiredRecordTypes = try reader.readDesiredNames()
        case "reverse": reverse = try reader.readBool()
        case "numbersAsStrings", "numberAsStrings": numbersAsStrings = try reader.readBool()
        default: try reader.skipValue()
        }
    }

    /// Writes the options as members of the object around them.
    func write(to writer: inout JSONWriter) {
        if let resultsLimit { writer.member("resultsLimit", resultsLimit) }
        writer.member("desiredKeys", desiredKeys)
        writer.member("desiredRecordTypes", desiredRecordTypes)
        if let reverse { writer.member("reverse", reverse) }
        if let numbersAsStrings { writer.member("numbersAsStrings", numbersAsStrings) }
    }
}

extension FetchZoneChanges.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        self.init(zones: [])
        var hasZones = false
        try reader.readObject { reader, name in
            guard name == "zones" else { return try options.readMember(name, from: &reader) }
            hasZones = true
            zones = try reader.readList { try FetchZoneChanges.Zone(from: &$0) }
        }
        guard hasZones else { throw JSONError("missing required field 'zones'") }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { writer, zone in
                writer.object { writer in
                    writer.key("zoneID")
                    zone.zoneID.write(to: &writer)
                    writer.member("syncToken", zone.syncToken)
                    zone.options.write(to: &writer)
                }
            }
            options.write(to: &writer)
        }
    }
}

extension FetchZoneChanges.Zone {
    fileprivate init(from reader: inout JSONReader) throws {
        var zoneID: ZoneID?
        var syncToken: String?
        var options = FetchZoneChanges.Options()
        try reader.readObject { reader, name in
            switch name {
            case "zoneID": zoneID = try ZoneID(from: &reader)
            case "syncToken": syncToken = try reader.readIssued()
            default: try options.readMember(name, from: &reader)
            }
        }
        guard let zoneID else { throw JSONError("missing required field 'zoneID'") }
        self.init(zoneID: zoneID, syncToken: syncToken, options: options)
    }
}

extension FetchZoneChanges.Response {
    /// About how many bytes the answer takes; a guess that spares growing.
    package var byteEstimate: Int {
        zones.reduce(512) { sum, zone in
            guard case .changes(let page) = zone else { return sum + 512 }
            return page.records.reduce(sum + 512) { $0 + $1.byteEstimate }
        }
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { writer, zone in
                switch zone {
                case .changes(let page): page.write(to: &writer)
                case .failed(let zoneID, let error):
                    error.write(to: &writer) { writer in
                        writer.key("zoneID")
                        zoneID.write(to: &writer)
                    }
                }
            }
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(
            zones: try reader.readMemberList("zones") {
                try FetchZoneChanges.ZoneAnswer(from: &$0)
            }
        )
    }
}

extension FetchZoneChanges.Page {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zoneID")
            zoneID.write(to: &writer)
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            writer.member(
                "clientChangeToken",
                clientChangeToken.map { Data($0).base64EncodedString() }
            )
            writer.key("records")
            writer.array(records) { $1.write(to: &$0) }
        }
    }
}

extension FetchZoneChanges.ZoneAnswer {
    fileprivate init(from reader: inout JSONReader) throws {
        var page = FetchZoneChanges.Page(
            zoneID: ZoneID(zoneName: ""),
            syncToken: "",
            moreComing: false,
            records: []
        )
        var error = WireErrorParts()
        try reader.readObject { reader, name in
            switch name {
            case "zoneID": page.zoneID = try ZoneID(from: &reader)
            case "syncToken": page.syncToken = try reader.readString()
            case "moreComing":
                page.moreComing = try reader.readOptional { try $0.readBool() } ?? false
            case "records": page.records = try reader.readList { try RecordResult(from: &$0) }
            case "clientChangeToken":
                page.clientChangeToken = try reader.readOptional { try $0.readBytes() }
            default: try error.readMember(name, from: &reader)
            }
        }
        if let error = error.error {
            self = .failed(page.zoneID, error)
        } else {
            self = .changes(page)
        }
    }
}
