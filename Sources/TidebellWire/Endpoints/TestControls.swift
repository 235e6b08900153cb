// SPDX-License-Identifier: Apache-2.0

// What tests in other languages hold a server by, where its operator started it so (web-services 9).

/// `/admin/1/clock`: the server's time, which a test moves forward.
package enum MoveClock: WireEndpoint {
    package static let route = WireRoute(
        .of(.control, "clock"), by: .getOrPost, for: .admin, .writes)

    /// How far.
    package struct Request: Sendable, Hashable {
        /// Seconds; nothing only asks what time it is.
        package var advance: Double = 0

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            try reader.readObject { reader, member in
                guard try !reader.readNull() else { return }
                guard member == "advance" else { return try reader.skipValue() }
                advance = try reader.readDouble()
            }
        }
    }

    /// What time it is on the server.
    package struct Response: Sendable, Hashable {
        /// Milliseconds since 1970.
        package var now: Int64

        /// Creates an answer.
        package init(now: Int64) { self.now = now }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("now", now) }
        }
    }
}

/// `/admin/1/faults`: the errors that requests get which come next.
package enum InjectFaults: WireEndpoint {
    package typealias Response = Request
    package static let route = WireRoute(
        .of(.control, "faults"), by: .getOrPost, for: .admin, .writes)

    /// Those that are to come; they replace the ones before.
    package struct Request: Sendable, Hashable {
        /// The first that a request meets is its.
        package var faults: [Fault]?

        /// Creates a list.
        package init(faults: [Fault]?) { self.faults = faults }
    }

    /// An error that requests get instead of their answer.
    package struct Fault: Sendable, Hashable {
        /// The most of them at a time.
        package static let mostFaults = 100
        /// The most requests of one.
        package static let mostTimes = 10_000
        /// The most seconds that a client is told to wait.
        package static let mostSeconds = 86_400.0

        /// What the requests do, such as `records/modify`; nil for whatever they do.
        package var action: String?
        /// The container of the requests; nil for all.
        package var container: String?
        /// The error, one of Apple's codes.
        package var serverErrorCode: ServerErrorCode
        /// The `CKError.Code` that clients with the extensions show; nil for that of the code.
        package var ckCode: Int?
        /// The reason.
        package var reason: String?
        /// How long the client is told to wait, in seconds; nil for nothing.
        package var retryAfter: Double?
        /// How many requests get it.
        package var times = 1
        /// Whether what they ask for is done before.
        package var isAfterWork = false
    }
}

extension InjectFaults.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, member in
            guard try !reader.readNull() else { return }
            guard member == "faults" else { return try reader.skipValue() }
            faults = try reader.readList(limit: InjectFaults.Fault.mostFaults) {
                try InjectFaults.Fault(from: &$0)
            }
        }
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("faults")
            writer.array(faults ?? []) { writer, fault in fault.write(to: &writer) }
        }
    }
}

extension InjectFaults.Fault {
    fileprivate init(from reader: inout JSONReader) throws {
        var code: ServerErrorCode?
        var fault = Self(serverErrorCode: .internalError)
        try reader.readObject { reader, member in
            guard try !reader.readNull() else { return }
            switch member {
            case "action": fault.action = try reader.readString()
            case "container": fault.container = try reader.readString()
            case "serverErrorCode":
                let text = try reader.readString()
                code = ServerErrorCode(rawValue: text)
                guard code != nil else {
                    throw WireError(
                        .badRequest,
                        "'\(WireError.shortened(text))' is not a serverErrorCode")
                }
            case "ckCode": fault.ckCode = try reader.readInt()
            case "reason": fault.reason = try reader.readString()
            case "retryAfter": fault.retryAfter = try reader.readDouble()
            case "times": fault.times = try reader.readInt()
            case "afterWork": fault.isAfterWork = try reader.readBool()
            // Whoever tests should not wait for what was misspelled.
            default:
                throw WireError(
                    .badRequest, "a fault has no '\(WireError.shortened(member.text))'")
            }
        }
        guard let code else {
            throw WireError(
                .badRequest, "a fault has the serverErrorCode that requests get")
        }
        fault.serverErrorCode = code
        guard (1...Self.mostTimes).contains(fault.times) else {
            throw WireError(
                .badRequest, "times must be 1 to \(Self.mostTimes)")
        }
        guard fault.retryAfter.map({ (0...Self.mostSeconds).contains($0) }) ?? true else {
            throw WireError(
                .badRequest, "retryAfter must be 0 to \(Int(Self.mostSeconds)) seconds")
        }
        self = fault
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let action { writer.member("action", action) }
            if let container { writer.member("container", container) }
            writer.member("serverErrorCode", serverErrorCode.rawValue)
            if let ckCode { writer.member("ckCode", ckCode) }
            if let reason { writer.member("reason", reason) }
            if let retryAfter {
                writer.key("retryAfter")
                writer.number(retryAfter)
            }
            writer.member("times", times)
            if isAfterWork { writer.member("afterWork", true) }
        }
    }

    /// The error that a request gets.
    package var error: WireError {
        WireError(
            serverErrorCode, reason ?? "The test injected this fault.", retryAfter: retryAfter,
            detail: ckCode.map { WireError.Detail(ckCode: $0) })
    }
}
