// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellScheduling
import Crypto
import NIOSSL
import TidebellWire
import X509
import SwiftASN1

/// A certificate for `localhost` that vouches for itself, made anew each time.
struct ServerIdentity {
    /// The certificate's lifetime around now.
    private static let lifetime: TimeInterval = 24 * 3600

    private let certificate: String
    private let key: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -Self.lifetime),
            notValidAfter: Date(timeIntervalSinceNow: Self.lifetime),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost")])
            },
            issuerPrivateKey: .init(key)
        )
        self.certificate = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }

    /// Writes the certificate to a new file in the temporary folder.
    func writeCertificate() throws -> URL {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("fake-apns-\(Randomness.system.makeUUID()).pem")
        try certificate.write(to: file, atomically: true, encoding: .utf8)
        return file
    }

    /// TLS 1.3 with HTTP/2 and nothing else.
    func makeContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
            )
        )
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }
}
