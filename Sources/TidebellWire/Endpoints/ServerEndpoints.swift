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

/// `/share/{shortGUID}`: the page behind a share's URL (SHARE-6), for people with a browser.
package enum ShowShare: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = OtherJSON
    package static let route = WireRoute(
        .of(.server, "share"), by: [.get, .head, .post], for: .url, .repeatable)
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
