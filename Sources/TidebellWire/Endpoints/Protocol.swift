// SPDX-License-Identifier: Apache-2.0

/// Names of the protocol that client and server must spell alike.
package enum WireProtocol {
    /// The reason of `AUTHENTICATION_REQUIRED` where a web token is missing, unknown, or of
    /// another container: that of a session that ended.
    package static let needsAuthorization = "request needs authorization"
    /// The `Content-Type` of every request with a body.
    package static let contentType = "application/json; charset=UTF-8"
    /// The header by which a client opts into the extensions (web-services 9).
    package static let extensionsHeader = "X-Tidebell-Extensions"
    /// The header of every answer that names the request in the server's log.
    package static let requestUUIDHeader = "X-Apple-Request-UUID"
    /// The header of an answer that carries the next web token (web-services 1.4).
    package static let webAuthTokenHeader = "X-Apple-CloudKit-Web-Auth-Token"
    /// The header by which a client names a write that it may send again: the server
    /// does it once and gives the same answer each time.
    package static let requestIDHeader = "X-Tidebell-Request-ID"
    /// The header with the ID of the operation that sends a request (OP-10).
    package static let operationIDHeader = "X-Tidebell-Operation-ID"
    /// The header with the ID of the operation's group.
    package static let groupIDHeader = "X-Tidebell-Operation-Group-ID"
    /// The header with the name of the group, percent-encoded.
    package static let groupNameHeader = "X-Tidebell-Operation-Group-Name"
    /// The header with the number of items the group is about.
    package static let groupQuantityHeader = "X-Tidebell-Operation-Group-Quantity"
    /// Query parameter: the API token.
    package static let apiToken = "ckAPIToken"
    /// Query parameter: the signed-in user's web token.
    package static let webAuthToken = "ckWebAuthToken"
    /// Query parameter: the device, and so the origin a push is not sent to.
    package static let clientID = "clientId"
    /// Query parameter of the device stream: the newest event the device has.
    package static let cursor = "cursor"
    /// Query parameter of the device stream: with ``payloadOfAPNs`` its payloads are cut as Apple's
    /// push service has them, so that a device sees what it would see there (PRUNE-8).
    package static let payload = "payload"
    /// The value of ``payload``.
    package static let payloadOfAPNs = "apns"
    /// What clients may replace by a file name in a download URL (web-services 4.4).
    package static let fileNamePlaceholder = "${f}"
    /// The most operations or records in a request of a plain web client (LIMIT-5).
    package static let itemLimit = 200
    /// The same for a client that opted into the extensions (LIMIT-1).
    package static let extendedItemLimit = 400
    /// The records of one page of changes or of a query, and of one lookup of the SDK's
    /// (LIMIT-5).
    package static let pageLimit = 200
    /// The most names in `desiredKeys` or `desiredRecordTypes`: several times the fields
    /// of a record.
    package static let desiredNameLimit = 4 * FieldChanges.maximumCount
}

extension JSONReader {
    /// Reads the names of what a client wants, at most ``WireProtocol/desiredNameLimit``.
    mutating func readDesiredNames() throws -> [String] {
        try readList(limit: WireProtocol.desiredNameLimit) { try $0.readName() }
    }
}
