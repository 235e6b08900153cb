// SPDX-License-Identifier: Apache-2.0

/// `tokens/create` and `tokens/register` under `/device/1` (web-services 5.12).
package struct TokenRequest: Sendable, Hashable {
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
                let text = try reader.readString()
                environment = CloudEnvironment(rawValue: text)
                guard environment != nil else {
                    throw JSONError("expected \"development\" or \"production\"")
                }
            case "apnsToken": apnsToken = try reader.readString()
            case "clientId": clientId = try reader.readString()
            case "topic": topic = try reader.readString()
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

/// `users/caller` (web-services 5.11): the caller's identity, unwrapped.
package struct CallerResponse: Sendable, Hashable {
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
        var name: String?
        try reader.readObject { reader, member in
            if member == "userRecordName" {
                name = try reader.readString()
            } else {
                try reader.skipValue()
            }
        }
        guard let name else { throw JSONError("missing required field 'userRecordName'") }
        userRecordName = name
    }
}
