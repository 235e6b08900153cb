// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes
import TidebellWire

/// A file that is part of the server: the same for everybody until the next version.
struct StaticFile: Sendable {
    private let bytes: [UInt8]
    private let headers: HTTPFields
    private let tag: String

    /// Creates a file.
    ///
    /// - Parameter type: Its content type.
    init(_ bytes: [UInt8], type: String) {
        self.bytes = bytes
        tag = "\"\(Hex.text(Array(SHA256.hash(data: Data(bytes)).prefix(16))))\""
        headers = [
            .contentType: type,
            // Kept, but asked about each time: a page works with the server it talks to.
            .cacheControl: "no-cache",
            .eTag: tag,
            .xContentTypeOptions: "nosniff",
            // Pages of all origins may load it, and there is no secret in it: also what a browser
            // got for one page and has kept is good for another.
            .accessControlAllowOrigin: "*",
            .resourcePolicy: "cross-origin",
        ]
    }

    /// Answers with the file, or with 304 to whom has it already.
    func response(to request: WebRequest) -> WebResponse {
        if let known = request.headers[.ifNoneMatch], EntityTags(known).containsWeakly(tag) {
            return WebResponse(status: 304, headers: headers)
        }
        return WebResponse(headers: headers, body: .bytes(bytes))
    }
}
