// SPDX-License-Identifier: Apache-2.0

/// `records/requestAccess`, an endpoint of ours beside `records/accept`: the caller asks those who
/// manage shares to be let in (SHARE-21).
package enum RequestShareAccess: WireEndpoint {
    package typealias Request = SharesRequest

    /// One element of a `results` array: that the owner will see the request, or why not.
    package enum Result: Sendable, Hashable {
        case requested(shortGUID: String)
        case failed(shortGUID: String, WireError)
    }

    /// One result for each share, in order.
    package struct Response: WireBody, Hashable {
        package var results: [Result]

        /// Creates an answer.
        package init(results: [Result]) {
            self.results = results
        }

        package var itemCount: Int? { results.count }
    }

    package static let route = WireRoute(
        .database("records/requestAccess", only: .public), .repeatable, serverKeys: .denied)
}

extension RequestShareAccess.Response {
    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        results = try reader.readMemberList("results") {
            try RequestShareAccess.Result(from: &$0)
        }
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("results")
            writer.array(results) { $1.write(to: &$0) }
        }
    }
}

extension RequestShareAccess.Result {
    fileprivate init(from reader: inout JSONReader) throws {
        var shortGUID = ""
        var error = WireErrorParts()
        try reader.readObject { reader, name in
            switch name {
            case "shortGUID": shortGUID = try ShortGUID(from: &reader).value
            default: try error.readMember(name, from: &reader)
            }
        }
        if let error = error.error {
            self = .failed(shortGUID: shortGUID, error)
        } else {
            self = .requested(shortGUID: shortGUID)
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        let writeGUID = { (shortGUID: String, writer: inout JSONWriter) in
            writer.key("shortGUID")
            ShortGUID(shortGUID).write(to: &writer)
        }
        switch self {
        case .requested(let shortGUID): writer.object { writeGUID(shortGUID, &$0) }
        case .failed(let shortGUID, let error):
            error.write(to: &writer) { writeGUID(shortGUID, &$0) }
        }
    }
}
