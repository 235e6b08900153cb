// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
package import TidebellCore
import TidebellWire

/// Receipts and download URLs, sealed with keys of the store's secret (HMAC-SHA-256): nothing
/// of them is stored, and nobody else can make one.
package struct AssetSeal: AssetSeals {
    /// What is sealed; a seal of one kind is none of another.
    fileprivate enum Kind: UInt8 {
        case receipt = 1
        case link = 2
        case keys = 3
        /// A link that names its user.
        case ownLink = 4
    }

    /// Bytes of a link's seal: half a digest, so that URLs stay short.
    private static let linkSealLength = 16
    /// Bytes of a content's digest.
    private static let contentLength = 32
    /// Bytes of a moment, and of a user.
    private static let numberLength = 8

    /// The keys that seals are made with, derived once for all requests.
    package struct Keys: Sendable {
        fileprivate let receipts: SymmetricKey
        fileprivate let links: SymmetricKey
        fileprivate let assetKeys: SymmetricKey

        /// Derives the keys of a store's secret.
        package init(_ secret: StoreSecret) {
            receipts = SymmetricKey(data: secret.key(.uploadReceipts))
            links = SymmetricKey(data: secret.key(.downloadLinks))
            assetKeys = SymmetricKey(data: secret.key(.assetKeys))
        }

        fileprivate subscript(kind: Kind) -> SymmetricKey {
            switch kind {
            case .receipt: receipts
            case .link, .ownLink: links
            case .keys: assetKeys
            }
        }
    }

    private let keys: Keys
    private let baseURL: String

    /// Creates the seal of a server that clients reach under `baseURL`.
    package init(keys: Keys, baseURL: String) {
        self.keys = keys
        self.baseURL = baseURL
    }

    // MARK: Receipts

    package func seal(_ receipt: AssetReceipt) -> String {
        let field = receipt.field
        let body = JSONWriter.write { writer in
            writer.array([
                receipt.content.rawValue, field.database.container.container,
                field.database.container.environment.rawValue, field.database.scope.rawValue,
                field.database.owner.map { String($0.rawValue) } ?? "", field.zoneName,
                field.recordName ?? "", field.fieldName ?? "",
            ]) { $0.string($1) }
        }
        return Base64URL.text(body) + "." + Base64URL.text(code(.receipt, body))
    }

    package func receipt(_ text: String) -> AssetReceipt? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let body = Base64URL.bytes(parts[0]),
            let code = Base64URL.bytes(parts[1]),
            isCode(code, .receipt, body),
            let members = try? JSONReader.read(
                body,
                { reader in
                    try reader.readList(limit: 8) { try $0.readString() }
                }),
            members.count == 8, let environment = CloudEnvironment(rawValue: members[2]),
            let scope = DatabaseScope(rawValue: members[3])
        else { return nil }
        return AssetReceipt(
            content: AssetContent(rawValue: members[0]),
            field: AssetField(
                database: DatabaseKey(
                    container: ContainerKey(container: members[1], environment: environment),
                    scope: scope, owner: Int64(members[4]).map(UserID.init(rawValue:))
                ),
                zoneName: members[5],
                recordName: members[6].isEmpty ? nil : members[6],
                fieldName: members[7].isEmpty ? nil : members[7]
            )
        )
    }

    // MARK: Download URLs

    package func url(of link: AssetLink) -> String {
        var body = Self.digest(link.content) + Self.bytes(link.expiresAt.rawValue)
        if let user = link.user { body += Self.bytes(user.rawValue) }
        let kind = link.user == nil ? Kind.link : .ownLink
        let token = Base64URL.text(body + code(kind, body).prefix(Self.linkSealLength))
        return baseURL + SendAsset.route.path.stem + token + "/" + WireProtocol.fileNamePlaceholder
    }

    package func link(url: String) -> AssetLink? {
        guard let path = url.range(of: SendAsset.route.path.stem) else { return nil }
        return link(token: url[path.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }

    /// Returns the link of the token in a download URL; nil for one not made here.
    func link(token: some StringProtocol) -> AssetLink? {
        guard let bytes = Base64URL.bytes(token) else { return nil }
        let body = Array(bytes.dropLast(Self.linkSealLength))
        let kind: Kind
        switch body.count {
        case Self.contentLength + Self.numberLength: kind = .link
        case Self.contentLength + 2 * Self.numberLength: kind = .ownLink
        default: return nil
        }
        let seal = bytes[body.count...]
        guard seal.count == Self.linkSealLength,
            Self.areEqual(code(kind, body).prefix(Self.linkSealLength), seal)
        else { return nil }
        let numbers = body[Self.contentLength...]
        return AssetLink(
            content: AssetContent(rawValue: Hex.text(Array(body.prefix(Self.contentLength)))),
            expiresAt: Instant(rawValue: Self.number(numbers.prefix(Self.numberLength))),
            user: kind == .ownLink
                ? UserID(rawValue: Self.number(numbers.suffix(Self.numberLength))) : nil
        )
    }

    // MARK: Keys

    // NB: nothing is encrypted with them; CloudKit's answers have them, and clients
    // hand them back.
    package func keys(
        of content: AssetContent
    ) -> (wrappingKey: String, referenceChecksum: String) {
        let code = code(.keys, Array(content.rawValue.utf8))
        return (
            Data(code.prefix(16)).base64EncodedString(),
            FileChecksum.text(ofDigest: code.suffix(20))
        )
    }

    // MARK: -

    private func code(_ kind: Kind, _ body: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: [kind.rawValue] + body, using: keys[kind]))
    }

    private func isCode(_ code: [UInt8], _ kind: Kind, _ body: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: [kind.rawValue] + body, using: keys[kind]
        )
    }

    private static func areEqual(_ left: some Sequence<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        // Looks at every byte, so that the time reveals nothing.
        zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> Int64 {
        bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }

    private static func digest(_ content: AssetContent) -> [UInt8] {
        guard let bytes = Hex.bytes(content.rawValue[...]), bytes.count == contentLength else {
            preconditionFailure("a content is named by its SHA-256")
        }
        return bytes
    }
}
