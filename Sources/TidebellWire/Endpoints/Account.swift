// SPDX-License-Identifier: Apache-2.0

/// `account/signIn`, an extension: gives a device a web token of its own.
package enum SignIn: WireEndpoint {
    package static let route = WireRoute(
        .of(.ext, "account/signIn"), for: .anyone, .writes, serverKeys: .denied)

    /// Whose sign-in it is: a user who gives the password, or one who has a web token already.
    package struct Request: WireBody, Hashable {
        /// The name of the account; nil where the request carries a web token.
        package var user: String?
        package var password: String?

        /// Creates a request.
        package init(user: String? = nil, password: String? = nil) {
            self.user = user
            self.password = password
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("user", user)
                writer.member("password", password)
            }
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            var request = Request()
            try reader.readObject { reader, name in
                guard try !reader.readNull() else { return }
                switch name {
                case "user": request.user = try reader.readString()
                case "password": request.password = try reader.readString()
                default: try reader.skipValue()
                }
            }
            self = request
        }
    }

    /// The new token, and whose it is.
    package struct Response: WireBody, Hashable {
        package var webAuthToken: String
        package var userRecordName: String
        /// The name of the account.
        package var user: String

        /// Creates an answer.
        package init(webAuthToken: String, userRecordName: String, user: String) {
            self.webAuthToken = webAuthToken
            self.userRecordName = userRecordName
            self.user = user
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("webAuthToken", webAuthToken)
                writer.member("userRecordName", userRecordName)
                writer.member("user", user)
            }
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            var (token, recordName, user): (String?, String?, String?)
            try reader.readObject { reader, name in
                switch name {
                case "webAuthToken": token = try reader.readString()
                case "userRecordName": recordName = try reader.readName()
                case "user": user = try reader.readString()
                default: try reader.skipValue()
                }
            }
            guard let token, let recordName, let user else {
                throw JSONError("missing required field of a sign-in")
            }
            self.init(webAuthToken: token, userRecordName: recordName, user: user)
        }
    }
}

/// `account/signOut`, an extension: ends the session of the request's web token.
package enum SignOut: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = EmptyBody
    package static let route = WireRoute(.of(.ext, "account/signOut"), .writes, serverKeys: .denied)
}

/// `account/webToken`, an extension: exchanges an API token for a web token of the
/// caller (ACCT-10).
package enum FetchWebAuthToken: WireEndpoint {
    package static let route = WireRoute(
        .of(.ext, "account/webToken"), .writes, serverKeys: .denied)

    /// The API token that the web token is to be used with.
    package struct Request: WireBody, Hashable {
        package var apiToken: String

        /// Creates a request.
        package init(apiToken: String) {
            self.apiToken = apiToken
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("apiToken", apiToken) }
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            apiToken = try reader.readOnly("apiToken")
        }
    }

    /// The web token.
    package struct Response: WireBody, Hashable {
        package var webAuthToken: String

        /// Creates an answer.
        package init(webAuthToken: String) {
            self.webAuthToken = webAuthToken
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("webAuthToken", webAuthToken) }
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            webAuthToken = try reader.readOnly("webAuthToken")
        }
    }
}

extension JSONReader {
    /// Reads an object of which one member, a string, is wanted.
    mutating func readOnly(_ wanted: MemberName) throws -> String {
        var value: String?
        try readObject { reader, name in
            if name == wanted {
                value = try reader.readString()
            } else {
                try reader.skipValue()
            }
        }
        guard let value else { throw JSONError("missing required field '\(wanted)'") }
        return value
    }
}
