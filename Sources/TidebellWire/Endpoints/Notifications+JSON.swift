// SPDX-License-Identifier: Apache-2.0

extension FetchNotificationChanges.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        self.init()
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "serverChangeToken": serverChangeToken = try reader.readString()
            case "resultsLimit": resultsLimit = try reader.readInt()
            default: try reader.skipValue()
            }
        }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("serverChangeToken", serverChangeToken)
            if let resultsLimit { writer.member("resultsLimit", resultsLimit) }
        }
    }
}

extension FetchNotificationChanges.Response {
    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("notifications")
            writer.array(notifications) { $1.write(to: &$0) }
            writer.member("serverChangeToken", serverChangeToken)
            writer.member("moreComing", moreComing)
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(notifications: [], serverChangeToken: "", moreComing: false)
        try reader.readObject { reader, name in
            switch name {
            case "notifications":
                notifications = try reader.readList {
                    try FetchNotificationChanges.Entry(from: &$0)
                }
            case "serverChangeToken": serverChangeToken = try reader.readString()
            case "moreComing": moreComing = try reader.readOptional { try $0.readBool() } ?? false
            default: try reader.skipValue()
            }
        }
    }
}

extension FetchNotificationChanges.Entry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationID", notificationID)
            writer.member("read", isRead)
            guard let payload else { return }
            writer.key("payload")
            writer.raw(payload)
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var notificationID: String?
        var isRead = false
        var payload: [UInt8]?
        try reader.readObject { reader, name in
            switch name {
            case "notificationID": notificationID = try reader.readName()
            case "read": isRead = try reader.readBool()
            case "payload": payload = try reader.readRaw()
            default: try reader.skipValue()
            }
        }
        guard let notificationID else {
            throw JSONError("missing required field 'notificationID'")
        }
        guard isRead || payload != nil else {
            throw JSONError("missing required field 'payload'")
        }
        self.init(notificationID: notificationID, payload: isRead ? nil : payload)
    }
}

extension MarkNotificationsRead.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        notificationIDs = try reader.readMemberList("notificationIDs") {
            try $0.readName()
        }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("notificationIDs", notificationIDs) }
    }
}

extension MarkNotificationsRead.Response {
    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationIDs", notificationIDs)
            guard !failed.isEmpty else { return }
            writer.key("failed")
            writer.array(failed) { writer, failure in
                failure.error.write(to: &writer) {
                    $0.member("notificationID", failure.notificationID)
                }
            }
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(notificationIDs: [])
        try reader.readObject { reader, name in
            switch name {
            case "notificationIDs": notificationIDs = try reader.readList { try $0.readName() }
            case "failed":
                failed = try reader.readList { try MarkNotificationsRead.Failure(from: &$0) }
            default: try reader.skipValue()
            }
        }
    }
}

extension MarkNotificationsRead.Failure {
    fileprivate init(from reader: inout JSONReader) throws {
        var notificationID: String?
        var parts = WireErrorParts()
        try reader.readObject { reader, name in
            if name == "notificationID" {
                notificationID = try reader.readName()
            } else {
                try parts.readMember(name, from: &reader)
            }
        }
        guard let notificationID else {
            throw JSONError("missing required field 'notificationID'")
        }
        guard let error = parts.error else {
            throw JSONError("missing required field 'serverErrorCode'")
        }
        self.init(notificationID: notificationID, error: error)
    }
}

extension ModifyBadge {
    /// Reads a request or an answer.
    package init(from reader: inout JSONReader) throws {
        var value: Int?
        try reader.readObject { reader, name in
            if name == "value" {
                value = try reader.readInt()
            } else {
                try reader.skipValue()
            }
        }
        guard let value else { throw JSONError("missing required field 'value'") }
        self.init(value: value)
    }

    /// Writes the request or the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("value", value) }
    }
}
