// SPDX-License-Identifier: Apache-2.0

/// `tokens/create`: gives a web client a push token and the courier that delivers its
/// pushes (web-services 5.12, SUB-50).
package enum CreateToken: WireEndpoint {
    package typealias Request = TokenRequest
    package typealias Response = TokenResponse
    // The database's is the documented path; clients use the device's.
    package static let route = WireRoute(
        .of(.device, "tokens/create"), or: [.database("tokens/create")], .writes)
}

/// `tokens/register`: lets a push token serve this container too (web-services 5.12).
package enum RegisterToken: WireEndpoint {
    package typealias Request = TokenRequest
    /// For a token of the server's; for a native one, nothing.
    package typealias Response = TokenResponse
    package static let route = WireRoute(
        .of(.device, "tokens/register"), or: [.database("tokens/register")], .repeatable)
}

/// `/courier/{capability}`: long poll of a web client for its next push, on a URL that was
/// given to whoever created the push token (web-services 5.12).
package enum PollCourier: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "courier"), by: [.get, .head], for: .url, .repeatable)
}

/// The request of `tokens/create` and `tokens/register`.
package struct TokenRequest: WireBody, Hashable {
    /// `development` or `production`: which of Apple's push hosts the token is for.
    package var apnsEnvironment: CloudEnvironment
    /// The token to register; absent when one is to be created.
    package var apnsToken: String?
    /// The device, where the query does not name it.
    package var clientId: String?
    /// The app's bundle ID: the push topic of a native token; an extension.
    package var topic: String?

    /// Creates a request.
    package init(
        apnsEnvironment: CloudEnvironment,
        apnsToken: String? = nil,
        clientId: String? = nil,
        topic: String? = nil
    ) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.clientId = clientId
        self.topic = topic
    }

    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        var environment: CloudEnvironment?
        self.init(apnsEnvironment: .development)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "apnsEnvironment":
                let text = try reader.readName()
                environment = CloudEnvironment(rawValue: text)
                guard environment != nil else {
                    throw JSONError("expected \"development\" or \"production\"")
                }
            case "apnsToken": apnsToken = try reader.readName()
            case "clientId": clientId = try reader.readName()
            case "topic": topic = try reader.readName()
            default: try reader.skipValue()
            }
        }
        guard let environment else { throw JSONError("missing required field 'apnsEnvironment'") }
        apnsEnvironment = environment
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("apnsEnvironment", apnsEnvironment.rawValue)
            writer.member("apnsToken", apnsToken)
            writer.member("clientId", clientId)
            writer.member("topic", topic)
        }
    }
}

/// The answer of both: the token and where its pushes can be polled.
package struct TokenResponse: Sendable, Hashable {
    package var apnsEnvironment: CloudEnvironment
    package var apnsToken: String
    package var webcourierURL: String

    /// Creates an answer.
    package init(apnsEnvironment: CloudEnvironment, apnsToken: String, webcourierURL: String) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.webcourierURL = webcourierURL
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("apnsEnvironment", apnsEnvironment.rawValue)
            writer.member("apnsToken", apnsToken)
            writer.member("webcourierURL", webcourierURL)
        }
    }
}

/// `users/caller`, and `users/current`, its older name (web-services 5.11).
package enum FetchCaller: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = CallerResponse
    // Of the public database only (web-services 2.1).
    package static let route = WireRoute(
        .database("users/caller", only: .public),
        or: [.database("users/current", only: .public)],
        by: .getOrPost, .reads)
}

/// The caller's identity, unwrapped.
package struct CallerResponse: WireBody, Hashable {
    package var userRecordName: String

    /// Creates an answer.
    package init(userRecordName: String) {
        self.userRecordName = userRecordName
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("userRecordName", userRecordName) }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        userRecordName = try reader.readOnly("userRecordName")
    }
}
