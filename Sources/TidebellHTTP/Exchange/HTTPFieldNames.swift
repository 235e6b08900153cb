// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
import TidebellWire

/// Names of header fields that HTTPTypes does not have.
extension HTTPField.Name {
    /// The name that ``WireProtocol`` has for it.
    private init(known name: String) {
        guard let name = HTTPField.Name(name) else { preconditionFailure("'\(name)' is no name") }
        self = name
    }

    // Fields of the API.
    static let extensions = Self(known: WireProtocol.extensionsHeader)
    static let requestUUID = Self(known: WireProtocol.requestUUIDHeader)
    static let webAuthToken = Self(known: WireProtocol.webAuthTokenHeader)
    static let requestID = Self(known: WireProtocol.requestIDHeader)
    static let operationID = Self(known: WireProtocol.operationIDHeader)
    static let groupID = Self(known: WireProtocol.groupIDHeader)
    static let groupName = Self(known: WireProtocol.groupNameHeader)
    static let groupQuantity = Self(known: WireProtocol.groupQuantityHeader)
    /// The key of a request that a server signed (web-services 2.3).
    static let requestKeyID = Self(known: "X-Apple-CloudKit-Request-KeyID")
    static let requestDate = Self(known: "X-Apple-CloudKit-Request-ISO8601Date")
    static let requestSignature = Self(known: "X-Apple-CloudKit-Request-SignatureV1")

    // Fields of browsers and proxies.
    /// HTTPTypes keeps the host beside the fields; here it is one, as in HTTP/1.1.
    package static let hostField = Self(known: "Host")
    static let fetchSite = Self(known: "Sec-Fetch-Site")
    static let requestPrivateNetwork = Self(known: "Access-Control-Request-Private-Network")
    static let allowPrivateNetwork = Self(known: "Access-Control-Allow-Private-Network")
    static let frameOptions = Self(known: "X-Frame-Options")
    static let openerPolicy = Self(known: "Cross-Origin-Opener-Policy")
    static let resourcePolicy = Self(known: "Cross-Origin-Resource-Policy")
    static let referrerPolicy = Self(known: "Referrer-Policy")
    static let robotsTag = Self(known: "X-Robots-Tag")
    static let lastEventID = Self(known: "Last-Event-ID")
    package static let forwardedFor = Self(known: "X-Forwarded-For")
    static let forwardedProto = Self(known: "X-Forwarded-Proto")
    /// nginx would keep events back otherwise.
    static let accelBuffering = Self(known: "X-Accel-Buffering")
}

extension HTTPFields {
    /// Creates the fields of these pairs; a name that no field can have is left out.
    package init(_ pairs: some Sequence<(key: String, value: String)>) {
        self.init()
        for (name, value) in pairs {
            guard let name = HTTPField.Name(name) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
