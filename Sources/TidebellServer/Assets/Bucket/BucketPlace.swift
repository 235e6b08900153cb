// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// Where in an S3-compatible service files of records are: a bucket, and what all keys in it begin with.
package struct BucketPlace: Sendable, Hashable, CustomStringConvertible {
    /// How a bucket is named in a request.
    package enum AddressingStyle: String, Sendable, CaseIterable {
        /// In the path; but in the host where the service is AWS's own.
        case auto
        /// `https://HOST/BUCKET/KEY`.
        case path
        /// `https://BUCKET.HOST/KEY`.
        case virtual
    }

    /// How the service is reached.
    package struct Service: Sendable, Hashable {
        /// `http` or `https`, and the host with its port.
        let scheme: String
        let authority: String
        package let region: String
        let isAWS: Bool

        /// Takes an address and a region, or what the environment names instead, as for the tools of AWS.
        ///
        /// - Parameters:
        ///   - endpoint: The address; nil is AWS's own, unless the environment names one.
        ///   - region: What the service calls its region; nil is `us-east-1`, likewise.
        package init(
            endpoint: String?, region: String?, environment: [String: String] = [:]
        ) throws {
            func value(_ names: String...) -> String? {
                names.lazy.compactMap { environment[$0] }.first { $0 != "" }
            }
            let region = region ?? value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
            let isPlain = region.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0.isLetterOrDigit
            }
            guard !region.isEmpty, isPlain else {
                throw OperatorError(
                    "The region must be a name such as eu-central-1, not '\(region)'.")
            }
            self.region = region
            let text = endpoint ?? value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
            isAWS = text == nil
            let address = text ?? "https://s3.\(region).amazonaws.com"
            guard let parts = URLComponents(string: address), let scheme = parts.scheme,
                ["http", "https"].contains(scheme), parts.host?.isEmpty == false,
                parts.user == nil, parts.password == nil, parts.query == nil,
                parts.fragment == nil, ["", "/"].contains(parts.path)
            else {
                throw OperatorError(
                    "The endpoint of the bucket must be http://HOST[:PORT] or https://HOST[:PORT], without a path, "
                        + "not '\(address)'.")
            }
            self.scheme = scheme
            let rest = address.dropFirst(scheme.count + "://".count)
            authority = String(rest.hasSuffix("/") ? rest.dropLast() : rest)
        }

        /// Its address.
        package var url: String { "\(scheme)://\(authority)" }
    }

    package let service: Service
    let bucket: String
    /// Without a slash at its beginning and end; empty for none.
    let prefix: String
    private let isInHost: Bool

    /// Characters of a prefix: keys have at most 1024 bytes.
    private static let longestPrefix = 512

    /// Takes `s3://BUCKET/PREFIX`; another text fails with ``OperatorError``.
    package init(_ text: String, at service: Service, style: AddressingStyle = .auto) throws {
        self.service = service
        let start = "s3://"
        guard text.hasPrefix(start) else {
            throw OperatorError("The bucket must be given as s3://BUCKET/PREFIX, not '\(text)'.")
        }
        var parts = text.dropFirst(start.count).split(
            separator: "/", omittingEmptySubsequences: false)
        if parts.count > 1, parts.last == "" { parts.removeLast() }
        bucket = String(parts.removeFirst())
        prefix = parts.joined(separator: "/")
        let isBucket =
            (3...63).contains(bucket.utf8.count) && bucket.utf8.allSatisfy(Self.isPlain)
        let isPrefix =
            prefix.utf8.count <= Self.longestPrefix
            && parts.allSatisfy {
                !["", ".", ".."].contains($0) && $0.utf8.allSatisfy(Self.isPlain)
            }
        guard isBucket, isPrefix else {
            throw OperatorError(
                "The bucket must be given as s3://BUCKET/PREFIX, with a bucket of 3 to 63 and a prefix of at most "
                    + "\(Self.longestPrefix) letters, digits, '-', '.' and '_' (in the prefix also '/'), not '\(text)'."
            )
        }
        isInHost =
            switch style {
            case .path: false
            case .virtual: true
            // NB: no certificate is for a host with more than one name before AWS's.
            case .auto: service.isAWS && !bucket.contains(".")
            }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit
            || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }

    /// The host that requests are for, with its port.
    var host: String { isInHost ? "\(bucket).\(service.authority)" : service.authority }

    /// Returns the path of an object, or of the bucket itself.
    func path(of key: String?) -> String {
        switch (isInHost, key) {
        case (true, let key): "/" + (key ?? "")
        case (false, let key?): "/\(bucket)/\(key)"
        case (false, nil): "/\(bucket)"
        }
    }

    /// Returns the key of an object whose name comes after the prefix.
    func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }

    package var description: String { "s3://" + (prefix.isEmpty ? bucket : "\(bucket)/\(prefix)") }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
