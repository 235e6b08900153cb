// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Logging
import NIOSSL
import Synchronization
import TidebellScheduling

/// The certificate that the server shows, and its key: from files, read anew when they change, so that
/// whoever renews a certificate need not stop the server.
package final class TLSCertificates: Sendable {
    /// How often the files are looked at, when connections open.
    package static let pause = Duration.seconds(10)

    private struct State {
        var context: NIOSSLContext
        var stamps: [Stamp]
        var lookedAt: Duration
    }

    /// What distinguishes one version of a file from another one.
    private struct Stamp: Equatable {
        var seconds: Int
        var nanoseconds: Int
        var size: Int
        var number: UInt64
    }

    private let certificate: String
    private let key: String
    private let elapsed: @Sendable () -> Duration
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files; fails with ``UnusableCertificate`` where they are no certificate with its key.
    ///
    /// - Parameters:
    ///   - certificate: The path of the certificate and those that sign it, in PEM, the server's first.
    ///   - key: The path of its private key, in PEM, without a password.
    ///   - elapsed: A clock that nobody sets.
    package init(
        certificate: String, key: String, elapsed: @escaping @Sendable () -> Duration,
        logger: Logger
    ) throws(UnusableCertificate) {
        self.certificate = certificate
        self.key = key
        self.elapsed = elapsed
        self.logger = logger
        let stamps = Self.stamps([certificate, key])
        let context = try Self.context(certificate, key)
        state = Mutex(State(context: context, stamps: stamps, lookedAt: elapsed()))
    }

    /// What a connection that opens now is served with. Files that cannot be used are logged once, and
    /// what was read before goes on.
    var current: NIOSSLContext {
        let now = elapsed()
        return state.withLock { state in
            guard now - state.lookedAt >= Self.pause else { return state.context }
            state.lookedAt = now
            let stamps = Self.stamps([certificate, key])
            guard stamps != state.stamps else { return state.context }
            state.stamps = stamps
            do throws(UnusableCertificate) {
                state.context = try Self.context(certificate, key)
                logger.notice("the TLS certificate was read again")
            } catch {
                logger.warning(
                    "the TLS certificate changed and cannot be used; the previous one stays in use",
                    metadata: ["reason": "\(error)"])
            }
            return state.context
        }
    }

    private static func context(
        _ certificate: String, _ key: String
    ) throws(UnusableCertificate) -> NIOSSLContext {
        for file in [certificate, key] {
            guard access(file, R_OK) != 0 else { continue }
            let code = errno
            throw UnusableCertificate(
                description: code == ENOENT
                    ? "There is no file '\(file)'."
                    : "'\(file)' cannot be read: \(String(cString: strerror(code))).")
        }
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw UnusableCertificate(
                description: "'\(certificate)' is not a file with certificates in PEM.")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw UnusableCertificate(
                description: "'\(key)' is not a file with a PEM private key without a password."
            )
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw UnusableCertificate(
                description:
                    "The key in '\(key)' is not that of the certificate in '\(certificate)'.")
        }
    }

    private static func stamps(_ paths: [String]) -> [Stamp] {
        paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else {
                return Stamp(seconds: 0, nanoseconds: 0, size: -1, number: 0)
            }
            #if os(Linux)
                let time = status.st_mtim
            #else
                let time = status.st_mtimespec
            #endif
            return Stamp(
                seconds: time.tv_sec, nanoseconds: time.tv_nsec, size: Int(status.st_size),
                number: UInt64(status.st_ino))
        }
    }
}

/// The files are no certificate with its key.
package struct UnusableCertificate: Error, CustomStringConvertible {
    /// One sentence for the operator.
    package let description: String
}
