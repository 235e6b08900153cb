// SPDX-License-Identifier: Apache-2.0

/// A share by the last part of its URL, as requests name it (web-services 4.7).
package struct ShortGUID: Sendable, Hashable {
    package var value: String
    package var shouldFetchRootRecord: Bool
    package var rootRecordDesiredKeys: [String]?

    /// Creates a value.
    package init(
        _ value: String, shouldFetchRootRecord: Bool = false,
        rootRecordDesiredKeys: [String]? = nil
    ) {
        self.value = value
        self.shouldFetchRootRecord = shouldFetchRootRecord
        self.rootRecordDesiredKeys = rootRecordDesiredKeys
    }
}

/// The request of `records/resolve`, `records/accept` and `records/requestAccess`.
package struct SharesRequest: WireBody, Hashable {
    package var shortGUIDs: [ShortGUID]

    /// Creates a request.
    package init(shortGUIDs: [ShortGUID]) {
        self.shortGUIDs = shortGUIDs
    }

    package var itemCount: Int? { shortGUIDs.count }

    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        shortGUIDs = try reader.readMemberList("shortGUIDs") { try ShortGUID(from: &$0) }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("shortGUIDs")
            writer.array(shortGUIDs) { $1.write(to: &$0) }
        }
    }
}

/// What is known of a share before it is accepted (SHARE-18).
package struct ShareMetadata: Sendable, Hashable {
    package var shortGUID: String
    package var container: ContainerKey
    /// From which of the caller's databases it is reached: the owner from the private one.
    package var scope: DatabaseScope
    package var zoneID: ZoneID
    /// Nil for a zone-wide share.
    package var rootRecordName: String?
    /// Where it was asked for.
    package var rootRecord: WireRecord?
    package var share: WireRecord
    package var ownerIdentity: UserIdentity
    package var participantPermission: SharePermission
    package var participantStatus: ParticipantAcceptance
    package var participantRole: ParticipantRole

    /// Creates a value.
    package init(
        shortGUID: String, container: ContainerKey, scope: DatabaseScope, zoneID: ZoneID,
        rootRecordName: String?, rootRecord: WireRecord? = nil, share: WireRecord,
        ownerIdentity: UserIdentity, participantPermission: SharePermission,
        participantStatus: ParticipantAcceptance, participantRole: ParticipantRole
    ) {
        self.shortGUID = shortGUID
        self.container = container
        self.scope = scope
        self.zoneID = zoneID
        self.rootRecordName = rootRecordName
        self.rootRecord = rootRecord
        self.share = share
        self.ownerIdentity = ownerIdentity
        self.participantPermission = participantPermission
        self.participantStatus = participantStatus
        self.participantRole = participantRole
    }
}

/// One element of a `results` array: a share, or why there is none.
package enum ShareResult: Sendable, Hashable {
    case share(ShareMetadata)
    case failed(shortGUID: String, WireError)
}

/// The answer of `records/resolve` and `records/accept`: one result for each share, in order.
package struct SharesResponse: WireBody, Hashable {
    package var results: [ShareResult]

    /// Creates an answer.
    package init(results: [ShareResult]) {
        self.results = results
    }

    package var itemCount: Int? { results.count }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        results = try reader.readMemberList("results") { try ShareResult(from: &$0) }
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("results")
            writer.array(results) { $1.write(to: &$0) }
        }
    }
}

/// `records/resolve` (web-services 5.7): what shares are, without joining them.
package enum ResolveShares: WireEndpoint {
    package typealias Request = SharesRequest
    package typealias Response = SharesResponse
    package static let route = WireRoute(
        .database("records/resolve", only: .public), .reads, serverKeys: .denied)
}

/// `records/accept` (web-services 5.7): the caller becomes a participant of shares.
package enum AcceptShares: WireEndpoint {
    package typealias Request = SharesRequest
    package typealias Response = SharesResponse
    package static let route = WireRoute(
        .database("records/accept", only: .public), .repeatable, serverKeys: .denied)
}

extension ShortGUID {
    init(from reader: inout JSONReader) throws {
        self.init("")
        var hasValue = false
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "value":
                value = try reader.readName()
                hasValue = true
            case "shouldFetchRootRecord": shouldFetchRootRecord = try reader.readBool()
            case "rootRecordDesiredKeys": rootRecordDesiredKeys = try reader.readDesiredNames()
            default: try reader.skipValue()
            }
        }
        guard hasValue else { throw JSONError("missing required field 'value'") }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("value", value)
            if shouldFetchRootRecord { writer.member("shouldFetchRootRecord", true) }
            writer.member("rootRecordDesiredKeys", rootRecordDesiredKeys)
        }
    }
}

extension ShareResult {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .share(let metadata): metadata.write(to: &writer)
        case .failed(let shortGUID, let error):
            error.write(to: &writer) { writer in
                writer.key("shortGUID")
                ShortGUID(shortGUID).write(to: &writer)
            }
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var parts = ShareResultParts()
        try reader.readObject { reader, name in try parts.readMember(name, from: &reader) }
        self = try parts.result()
    }
}

extension ShareMetadata {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("shortGUID")
            ShortGUID(shortGUID).write(to: &writer)
            writer.member("containerIdentifier", container.container)
            writer.member("environment", container.environment.rawValue.uppercased())
            writer.member("databaseScope", scope.rawValue.uppercased())
            writer.key("zoneID")
            zoneID.write(to: &writer)
            writer.member("rootRecordName", rootRecordName)
            if let rootRecord {
                writer.key("rootRecord")
                rootRecord.write(to: &writer)
            }
            writer.key("share")
            share.write(to: &writer)
            writer.key("ownerIdentity")
            ownerIdentity.write(to: &writer)
            writer.member("participantPermission", participantPermission.rawValue)
            writer.member("participantStatus", participantStatus.rawValue)
            writer.member("participantType", participantRole.rawValue)
        }
    }
}

/// The members of a `results` element.
private struct ShareResultParts {
    private var shortGUID = ""
    private var container = ""
    private var environment: CloudEnvironment?
    private var scope: DatabaseScope?
    private var zoneID: ZoneID?
    private var rootRecordName: String?
    private var rootRecord: WireRecord?
    private var share: WireRecord?
    private var owner = UserIdentity(userRecordName: nil)
    private var permission = SharePermission.none
    private var status = ParticipantAcceptance.pending
    private var role = ParticipantRole.privateUser
    private var error = WireErrorParts()

    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        switch name {
        case "shortGUID": shortGUID = try ShortGUID(from: &reader).value
        case "containerIdentifier": container = try reader.readName()
        case "environment":
            environment = CloudEnvironment(rawValue: try reader.readName().lowercased())
        case "databaseScope": scope = DatabaseScope(rawValue: try reader.readName().lowercased())
        case "zoneID": zoneID = try ZoneID(from: &reader)
        case "rootRecordName":
            rootRecordName = try reader.readOptional { try $0.readName() }
        case "rootRecord": rootRecord = try reader.readOptional(Self.readRecord) ?? nil
        case "share": share = try reader.readOptional(Self.readRecord) ?? nil
        case "ownerIdentity": owner = try UserIdentity(from: &reader)
        case "participantPermission": permission = try reader.readPermission()
        case "participantStatus":
            status = ParticipantAcceptance(rawValue: try reader.readName()) ?? .pending
        case "participantType":
            role = ParticipantRole(rawValue: try reader.readName()) ?? .privateUser
        default: try error.readMember(name, from: &reader)
        }
    }

    private static func readRecord(from reader: inout JSONReader) throws -> WireRecord? {
        if case .record(let record) = try RecordResult(from: &reader) { record } else { nil }
    }

    func result() throws -> ShareResult {
        if let error = error.error { return .failed(shortGUID: shortGUID, error) }
        guard let zoneID, let share, let environment, let scope else {
            throw JSONError("missing required field of a share's metadata")
        }
        return .share(
            ShareMetadata(
                shortGUID: shortGUID,
                container: ContainerKey(container: container, environment: environment),
                scope: scope, zoneID: zoneID, rootRecordName: rootRecordName,
                rootRecord: rootRecord, share: share, ownerIdentity: owner,
                participantPermission: permission, participantStatus: status,
                participantRole: role
            )
        )
    }
}
