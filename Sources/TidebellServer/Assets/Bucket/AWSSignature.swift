// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellCore
import TidebellWire

/// Signs requests to an S3-compatible service by a header field, as AWS documents it ("Signature Version 4").
struct AWSSignature {
    /// A request as it is signed; all of its values are sent as they are here.
    struct Request {
        var method: String
        /// Not percent-encoded.
        var path: String
        /// Not percent-encoded.
        var query: [(name: String, value: String)] = []
        /// By names in lower case: the host, the moment, the digest of the body, and whatever else is signed.
        var headers: [String: String]
        /// The digest of the body, in hexadecimal digits.
        var payload: String
    }

    private static let algorithm = "AWS4-HMAC-SHA256"
    private static let service = "s3"

    /// What the signature is made with.
    let credentials: AWSCredentials
    /// Where the service is, in its own words.
    let region: String

    /// Returns the value of the header field `Authorization`.
    ///
    /// - Parameter moment: What `x-amz-date` says (``text(of:)``).
    func authorization(of request: Request, at moment: String) -> String {
        let day = String(moment.prefix { $0 != "T" })
        let scope = "\(day)/\(region)/\(Self.service)/aws4_request"
        let names = request.headers.keys.sorted()
        let canonical = [
            request.method, Self.encoded(request.path, keepsSlashes: true),
            Self.queryText(request.query),
            names.map { "\($0):\(request.headers[$0] ?? "")\n" }.joined(),
            names.joined(separator: ";"), request.payload,
        ].joined(separator: "\n")
        let text = [Self.algorithm, moment, scope, Self.digest(Array(canonical.utf8))].joined(
            separator: "\n")
        let key = [day, region, Self.service, "aws4_request"].reduce(
            Array("AWS4\(credentials.secret)".utf8)
        ) { Self.code($1, by: $0) }
        return "\(Self.algorithm) Credential=\(credentials.keyID)/\(scope),"
            + "SignedHeaders=\(names.joined(separator: ";")),"
            + "Signature=\(Hex.text(Self.code(text, by: key)))"
    }

    /// Returns a moment as signatures have it: 20130524T000000Z.
    static func text(of moment: Instant) -> String {
        var seconds = time_t(moment.rawValue / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2)
            + digits(parts.tm_mday, 2) + "T" + digits(parts.tm_hour, 2)
            + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
    }

    /// Returns a query as it is signed and sent.
    static func queryText(_ query: [(name: String, value: String)]) -> String {
        query.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Returns a text percent-encoded: all but letters, digits and `-._~`.
    static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "/") where keepsSlashes: encoded += "/"
            default: encoded += "%" + Hex.text([byte]).uppercased()
            }
        }
        return encoded
    }

    /// Returns the digest of bytes, in hexadecimal digits.
    static func digest(_ bytes: [UInt8]) -> String { Hex.text(Array(SHA256.hash(data: bytes))) }

    private static func code(_ text: String, by key: [UInt8]) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array(text.utf8), using: SymmetricKey(data: key)))
    }
}
