// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// Server-to-server keys as an operator has them, and requests that `openssl` signed.
@Suite("Server-to-server keys by command", .hangs)
struct ServerKeyCommandTests {
    private let program: TidebellProgram

    init() throws {
        program = try Built.tidebell()
    }

    /// Runs a line of a shell in the data folder; returns what it prints.
    private func shell(_ line: String) async throws -> String {
        let child = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-ec", "cd '\(program.dataFolder.path)'; \(line)"], mergesErrors: true)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.waitUntilExit() == 0, "\(lines)")
        return lines.joined(separator: "\n")
    }

    /// Sends a request as the documentation of CloudKit Web Services signs it; returns status and text.
    private func send(
        _ path: String, _ body: String, key id: String, signedBy file: String
    ) async throws -> (Int, String) {
        let date = Date().formatted(.iso8601)
        let hash = try await shell(
            "printf %s '\(body)' | openssl dgst -sha256 -binary | base64 -w0; echo")
        let signature = try await shell(
            "printf %s '\(date):\(hash):\(path)' | openssl dgst -sha256 -sign \(file) | base64 -w0; echo"
        )
        let server = try #require(URL(string: program.address))
        let answer = try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(
                method: "POST", path: path,
                headers: [
                    ("X-Apple-CloudKit-Request-KeyID", id),
                    ("X-Apple-CloudKit-Request-ISO8601Date", date),
                    ("X-Apple-CloudKit-Request-SignatureV1", signature),
                ], body: Array(body.utf8)),
            timeout: .patience)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    @Test("A key is made by openssl, added, used, listed and revoked")
    func life() async throws {
        defer {
            // What a test could not make need not be removed.
            try? FileManager.default.removeItem(at: program.dataFolder)
        }
        let server = try await program.serve()
        _ = try await shell(
            """
            openssl ecparam -name prime256v1 -genkey -noout -out eckey.pem
            openssl ec -in eckey.pem -pubout -out public.pem
            openssl ecparam -name prime256v1 -genkey -noout -out other.pem
            """)
        let folder = program.dataFolder.path
        let refused = await #expect(throws: ProcessFailure.self) {
            try await program.run([
                "server-key", "add", Household.container, "\(folder)/eckey.pem",
            ])
        }
        #expect(
            refused?.description.contains("This is a private key") == true,
            "\(String(describing: refused))")
        let added = try await program.run([
            "server-key", "add", Household.container, "\(folder)/public.pem", "--name", "job",
        ])
        let id = try #require(
            added.compactMap { $0.wholeMatch(of: /\s*([0-9a-f]{64})/)?.1 }.first.map(String.init),
            "\(added)")

        let root = "/database/1/\(Household.container)/development"
        let save =
            #"{"operations":[{"operationType":"create","record":{"recordName":"n","#
            + #""recordType":"Note","fields":{"title":{"value":"hello"}}}}]}"#
        let (status, text) = try await send(
            "\(root)/public/records/modify", save, key: id, signedBy: "eckey.pem")
        #expect(status == 200 && text.contains(#""title":{"value":"hello""#), "\(text)")
        let wrong = try await send(
            "\(root)/public/users/caller", "{}", key: id, signedBy: "other.pem")
        #expect(wrong.0 == 401 && wrong.1.contains("AUTHENTICATION_FAILED"), "\(wrong)")
        let closed = try await send(
            "\(root)/private/zones/list", "{}", key: id, signedBy: "eckey.pem")
        #expect(closed.0 == 403 && closed.1.contains("ACCESS_DENIED"), "\(closed)")

        let list = try await program.run(["server-key", "list"])
        #expect(list.count == 1, "\(list)")
        #expect(
            list[0].hasPrefix("\(id)  job  \(Household.container) (development)  made "), "\(list)")
        let revoked = try await program.run(["server-key", "revoke", String(id.prefix(8))])
        #expect(revoked == ["Revoked the key \(id) 'job'."])
        let ended = try await send(
            "\(root)/public/users/caller", "{}", key: id, signedBy: "eckey.pem")
        #expect(ended.0 == 401, "\(ended)")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
