// SPDX-License-Identifier: Apache-2.0

/// `push/explain`: what became of changes on their way to pushes, for the operator.
package enum ExplainPush: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.admin, "push/explain"), by: .getOrPost, for: .admin, .reads)
}

/// `/health`: whether the server answers and its store can be read.
package enum ReportHealth: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = ServerStatus
    package static let route = WireRoute(
        .of(.server, "health"), by: [.get, .head], for: .open, .reads)
}

/// `/ready`: whether the server can do its work, which is to write.
package enum ReportReadiness: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = ServerStatus
    package static let route = WireRoute(
        .of(.server, "ready"), by: [.get, .head], for: .open, .reads)
}

/// `/version`: which version of the server this is.
package enum ReportVersion: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = ServerVersion
    package static let route = WireRoute(
        .of(.server, "version"), by: [.get, .head], for: .open, .reads)
}

/// `/metrics`: what the server counts, for Prometheus.
package enum ReportMetrics: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "metrics"), by: [.get, .head], for: .admin, .reads)
}

/// `/`: what this server is and whether it is well, for people with a browser.
package enum ShowWelcome: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(.of(.server, ""), by: [.get, .head], for: .open, .reads)
}

/// `/tidebell.js`: the client for browsers, one module of JavaScript.
package enum SendScript: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = FileBody
    package static let route = WireRoute(
        .of(.server, "tidebell.js"), by: [.get, .head], for: .open, .reads)
}

/// `/reference`: what a developer of a client has to know, as text.
package enum SendReference: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = FileBody
    package static let route = WireRoute(
        .of(.server, "reference"), by: [.get, .head], for: .open, .reads)
}

/// `/openapi.json`: the description of the API in OpenAPI 3.1.
package enum SendOpenAPI: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "openapi.json"), by: [.get, .head], for: .open, .reads)
}

/// `/share/{shortGUID}`: the page behind a share's URL (SHARE-6), for people with a browser.
package enum ShowShare: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "share"), by: [.get, .head, .post], for: .url, .repeatable)
}

/// `/sign-in`: the page that the `redirectURL` of a 421 leads to (web-services 2.2).
package enum ShowSignIn: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "sign-in"), by: [.get, .head, .post], for: .open, .repeatable)
}

/// `/sign-in/callback`: where an identity provider sends the browser back to.
package enum FinishSignIn: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "sign-in/callback"), by: [.get], for: .open, .repeatable)
}

/// `/device-sign-in`: where somebody enters the code that a device shows.
package enum ShowDeviceSignIn: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "device-sign-in"), by: [.get, .head, .post], for: .open, .repeatable)
}

/// `/account`: where a user is signed in, and a way to end that and to change the password.
package enum ShowAccount: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "account"), by: [.get, .head, .post], for: .open, .repeatable)
}

/// `/reset/{secret}`: the page behind a link of the operator's, where a user sets a new password.
package enum ShowPasswordReset: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "reset"), by: [.get, .head, .post], for: .url, .repeatable)
}

/// The answer of `/health` and `/ready`.
package struct ServerStatus: Sendable, Hashable {
    /// One word: `ok` or `ready`.
    package var status: String

    /// Creates an answer.
    package init(_ status: String) {
        self.status = status
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("status", status) }
    }
}

/// The answer of `/version`.
package struct ServerVersion: Sendable, Hashable {
    /// The version, such as `1.2.3`.
    package var version: String

    /// Creates an answer.
    package init(_ version: String) {
        self.version = version
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("name", "tidebell")
            $0.member("version", version)
        }
    }
}
