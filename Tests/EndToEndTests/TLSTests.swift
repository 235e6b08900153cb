// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// The server's own TLS, with certificates that `openssl` makes and clients that are not ours.
@Suite("TLS", .hangs)
struct TLSTests {
    private let program: TidebellProgram

    init() throws {
        program = try Built.tidebell()
    }

    /// Runs a line of a shell in the data folder; returns its status and what it prints.
    private func shell(_ line: String) async throws -> (status: Int32, text: String) {
        let child = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "cd '\(program.dataFolder.path)' && \(line)"], mergesErrors: true)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        return (await child.waitUntilExit(), lines.joined(separator: "\n"))
    }

    private func makeCertificate(_ name: String, files: String) async throws {
        let made = try await shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
                + "-subj /CN=\(name) -addext subjectAltName=DNS:localhost "
                + "-keyout \(files).key -out \(files).pem")
        #expect(made.status == 0, "\(made.text)")
    }

    /// Makes the folder of the server's data, with two certificates and their keys, and returns its path.
    private func makeFolder() async throws -> String {
        try FileManager.default.createDirectory(
            at: program.dataFolder, withIntermediateDirectories: true)
        try await makeCertificate("first", files: "a")
        try await makeCertificate("second", files: "b")
        return program.dataFolder.path
    }

    @Test("A certificate that is renewed is shown to who connects next, without a restart")
    func renewal() async throws {
        defer {
            // What a test could not make need not be removed.
            try? FileManager.default.removeItem(at: program.dataFolder)
        }
        let folder = try await makeFolder()
        let server = try await program.serve(arguments: [
            "--tls-certificate", "\(folder)/a.pem", "--tls-key", "\(folder)/a.key",
        ])
        let port = program.port
        func health(_ trusted: String) async throws -> String {
            try await shell(
                "curl -sS --cacert \(trusted) https://localhost:\(port)/health 2>&1"
            ).text
        }
        #expect(try await health("a.pem") == #"{"status":"ok"}"#)
        // The URLs of answers are by https, too.
        let answer = try await shell(
            "curl -sS --cacert a.pem https://localhost:\(port)/database/1/iCloud.org.example.notes/"
                + "development/private/zones/list?ckAPIToken=$(grep -o 'API_TOKEN=[0-9a-f]*' "
                + "first-run.txt | cut -d= -f2)"
        ).text
        #expect(
            answer.contains(#""redirectURL":"https://localhost:\#(port)/sign-in?"#), "\(answer)")
        #expect(try await health("b.pem").contains("certificate"))
        #expect(try await shell("curl -sS http://localhost:\(port)/health").status != 0)

        // The files are looked at when connections open, every ten seconds.
        _ = try await shell("cp a.pem kept.pem; cp b.key a.key; cp b.pem a.pem")
        _ = try await eventually { try await health("b.pem") == #"{"status":"ok"}"# }
        #expect(try await health("kept.pem").contains("certificate"))
        server.signal(SIGTERM)
        var log: [String] = []
        for await line in server.lines { log.append(line) }
        #expect(await server.waitUntilExit() == 0)
        #expect(log.contains { $0.contains("the TLS certificate was read again") }, "\(log)")
        #expect(log.contains { $0.contains("listening on https://127.0.0.1:\(port)") }, "\(log)")
    }

    @Test("Files that are no certificate with its key stop the start, and say which")
    func wrongFiles() async throws {
        defer {
            // What a test could not make need not be removed.
            try? FileManager.default.removeItem(at: program.dataFolder)
        }
        let folder = try await makeFolder()
        for (certificate, key, sentence) in [
            ("none.pem", "a.key", "There is no file '\(folder)/none.pem'."),
            ("a.pem", "none.key", "There is no file '\(folder)/none.key'."),
            ("a.key", "a.key", "a.key' is not a file with certificates in PEM."),
            ("a.pem", "a.pem", "a.pem' is not a file with a PEM private key"),
            ("a.pem", "b.key", "b.key' is not that of the certificate in"),
        ] {
            let refused = await #expect(throws: ProcessFailure.self) {
                try await program.run([
                    "serve", "--port", "0", "--tls-certificate", "\(folder)/\(certificate)",
                    "--tls-key", "\(folder)/\(key)",
                ])
            }
            #expect(
                refused?.description.contains(sentence) == true, "\(String(describing: refused))")
        }
    }
}
