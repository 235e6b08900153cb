// SPDX-License-Identifier: Apache-2.0

extension WireError {
    /// Writes the error as an object; `identity` adds the item's own members.
    package func write(
        to writer: inout JSONWriter,
        identity: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.object { writer in
            identity(&writer)
            writer.member("uuid", uuid)
            writer.member("reason", reason)
            writer.member("serverErrorCode", code.rawValue)
            if let retryAfter {
                writer.key("retryAfter")
                writer.number(retryAfter)
            }
            writer.member("redirectURL", redirectURL)
            if let detail {
                writer.key("ext")
                detail.write(to: &writer)
            }
        }
    }

    /// Reads a request-level error body.
    package init(from reader: inout JSONReader) throws {
        var parts = WireErrorParts()
        try reader.readObject { reader, name in try parts.readMember(name, from: &reader) }
        guard let error = parts.error else {
            throw JSONError("missing required field 'serverErrorCode'")
        }
        self = error
    }
}

extension WireError.Detail {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let ckCode { writer.member("ckCode", ckCode) }
            if let serverRecord {
                writer.key("serverRecord")
                serverRecord.write(to: &writer)
            }
            writer.member("reason", zoneDeletion?.rawValue)
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var detail = WireError.Detail()
        try reader.readObject { reader, name in
            switch name {
            case "ckCode": detail.ckCode = try reader.readOptional { try $0.readInt() }
            case "serverRecord":
                if case .record(let record) = try RecordResult(from: &reader) {
                    detail.serverRecord = record
                }
            case "reason":
                let reason = try reader.readOptional { try $0.readString() }
                detail.zoneDeletion = reason.flatMap(ZoneDeletionReason.init)
            default: try reader.skipValue()
            }
        }
        self = detail
    }
}

/// The error members of an item, which stand beside the item's own.
struct WireErrorParts {
    private var code: String?
    private var reason = ""
    private var uuid: String?
    private var retryAfter: Double?
    private var redirectURL: String?
    private var detail: WireError.Detail?

    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        switch name {
        case "serverErrorCode": code = try reader.readString()
        case "reason": reason = try reader.readOptional { try $0.readString() } ?? ""
        case "uuid": uuid = try reader.readOptional { try $0.readString() }
        case "retryAfter": retryAfter = try reader.readOptional { try $0.readDouble() }
        case "redirectURL": redirectURL = try reader.readOptional { try $0.readString() }
        case "ext": detail = try reader.readOptional(WireError.Detail.init(from:))
        default: try reader.skipValue()
        }
    }

    /// The error, when the item was one; a code this version does not know is
    /// kept as an internal error with the code in its reason.
    var error: WireError? {
        guard let code else { return nil }
        let known = ServerErrorCode(rawValue: code)
        return WireError(
            known ?? .internalError,
            known == nil ? "\(code): \(reason)" : reason,
            uuid: uuid,
            retryAfter: retryAfter,
            redirectURL: redirectURL,
            detail: detail
        )
    }
}
