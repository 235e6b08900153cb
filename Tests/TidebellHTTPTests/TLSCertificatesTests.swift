// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TidebellHTTP

@Suite("Certificates from files")
final class TLSCertificatesTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-tls-\(UUID().uuidString)")
    private let log = TestLog()
    private let elapsed = Mutex(Duration.zero)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Makes a certificate with its key.
    private func make(_ name: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-keyout", path("key"), "-out",
            path("certificate"),
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("Files that changed are read anew, once; what cannot be used is not, and is logged once")
    func renewal() throws {
        try make("first")
        let certificates = try TLSCertificates(
            certificate: path("certificate"), key: path("key"),
            elapsed: { [self] in elapsed.withLock { $0 } }, logger: log.logger)
        func pass() { elapsed.withLock { $0 += TLSCertificates.pause } }
        let first = certificates.current
        pass()
        #expect(certificates.current === first)
        // Half of it is written.
        try Data("nothing".utf8).write(to: folder.appendingPathComponent("certificate"))
        #expect(certificates.current === first)
        pass()
        #expect(certificates.current === first)
        pass()
        #expect(certificates.current === first)
        let warning =
            "warning: the TLS certificate changed and cannot be used; the previous one stays in use"
        #expect(log.lines == [warning])
        try make("second")
        #expect(certificates.current === first)
        pass()
        let second = certificates.current
        #expect(second !== first)
        pass()
        #expect(certificates.current === second)
        #expect(log.lines == [warning, "notice: the TLS certificate was read again"])
    }
}
