// SPDX-License-Identifier: Apache-2.0

/// `assets/upload`: URLs to send files to (web-services 5.9).
package enum UploadAssets: WireEndpoint {
    // Asked for twice, URLs that are not used expire.
    package static let route = WireRoute(.database("assets/upload"), .repeatable)

    /// A field that is to hold a file.
    package struct Field: Sendable, Hashable {
        /// Nil lets the server choose a UUID.
        package var recordName: String?
        package var recordType: String
        package var fieldName: String

        /// Creates a field.
        package init(recordName: String?, recordType: String, fieldName: String) {
            self.recordName = recordName
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var zoneID: ZoneID
        package var tokens: [Field]

        /// Creates a request.
        package init(zoneID: ZoneID, tokens: [Field]) {
            self.zoneID = zoneID
            self.tokens = tokens
        }
    }

    /// Where the file of a field goes.
    package struct Token: Sendable, Hashable {
        package var recordName: String
        package var fieldName: String
        package var url: String

        /// Creates a token.
        package init(recordName: String, fieldName: String, url: String) {
            self.recordName = recordName
            self.fieldName = fieldName
            self.url = url
        }
    }

    /// The answer: one token for each field, in order.
    package struct Response: WireBody, Hashable {
        package var tokens: [Token]

        /// Creates an answer.
        package init(tokens: [Token]) {
            self.tokens = tokens
        }
    }

    /// The answer to the upload of a file.
    package struct Receipt: WireBody, Hashable {
        /// The value that a save takes for the field.
        package var singleFile: WireAsset

        /// Creates an answer.
        package init(singleFile: WireAsset) {
            self.singleFile = singleFile
        }
    }
}

/// `/assets/1/upload/{token}`: takes the bytes of a file, whatever type the request
/// declares (web-services 5.9).
package enum ReceiveAsset: WireEndpoint {
    package typealias Request = FileBody
    package typealias Response = UploadAssets.Receipt
    package static let route = WireRoute(
        .of(.assets, "upload"), by: [.post, .put], for: .url, .repeatable)
}

/// `/assets/1/download/{token}/{name}`: the bytes of a file (web-services 4.4).
package enum SendAsset: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = FileBody
    package static let route = WireRoute(
        .of(.assets, "download"), by: [.get, .head], for: .url, .reads)
}
