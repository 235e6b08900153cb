// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// An S3-compatible server of this test process alone (moto), in memory, on a free port of this machine; it ends when
/// the process ends, however that happens (`Scripts/s3-for-tests`).
package final class S3TestServer: @unchecked Sendable {
    // Sendable: the process is only talked to under the lock.

    /// There is no server, or it did not do what it was told.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What a user's requests are signed with.
    package struct Keys: Codable, Sendable {
        package let id: String
        package let secret: String

        package init(id: String, secret: String) {
            self.id = id
            self.secret = secret
        }

        /// The environment of a program that sends requests as this user.
        package var environment: [String: String] {
            ["AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": secret]
        }
    }

    private struct Greeting: Codable {
        var address: String
        var owner: Keys
        var reader: Keys
    }

    /// The server that tests share, each with a bucket of its own; started when first asked for.
    package static let shared = Result { try S3TestServer() }

    private let greeting: Greeting
    private let lock = NSLock()
    private let processID: Int32
    private var hasEnded = false
    private let input: Pipe
    private let output: Pipe
    private var lastBucket = 0

    /// Starts a server, which takes a few seconds.
    package init(script: String = #filePath) throws {
        input = Pipe()
        output = Pipe()
        let executable = URL(filePath: script).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Scripts/s3-for-tests")
        processID = try Spawn(
            executable: executable.path, arguments: [],
            environment: ProcessInfo.processInfo.environment,
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, mergesErrors: false
        ).start()
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let line = try Self.readLine(output.fileHandleForReading)
        greeting = try JSONDecoder().decode(Greeting.self, from: line)
    }

    deinit {
        lock.withLock {
            guard !hasEnded else { return }
            hasEnded = true
            try? input.fileHandleForWriting.close()
            while waitpid(processID, nil, 0) == -1, errno == EINTR {}
        }
    }

    /// The server's URL.
    package var address: String { greeting.address }
    /// A user who may do everything.
    package var owner: Keys { greeting.owner }
    /// A user who may read and list, and nothing else.
    package var reader: Keys { greeting.reader }

    /// Makes a bucket that no other test has.
    package func makeBucket() throws -> S3TestBucket {
        let name = lock.withLock {
            lastBucket += 1
            return "files-\(lastBucket)"
        }
        _ = try tell(["do": "make", "bucket": name])
        return S3TestBucket(server: self, name: name)
    }

    /// Does something to a bucket; returns the result once it is done.
    @discardableResult
    fileprivate func tell(_ command: [String: Any]) throws -> Any? {
        let line = try JSONSerialization.data(withJSONObject: command) + Data("\n".utf8)
        let answer = try lock.withLock {
            try input.fileHandleForWriting.write(contentsOf: line)
            return try Self.readLine(output.fileHandleForReading)
        }
        let members = try JSONSerialization.jsonObject(with: answer) as? [String: Any]
        if let error = members?["error"] { throw Failure(description: "\(error)") }
        return members?["result"]
    }

    private static func readLine(_ handle: FileHandle) throws -> Data {
        var line = Data()
        while let byte = try handle.read(upToCount: 1)?.first {
            guard byte != UInt8(ascii: "\n") else { return line }
            line.append(byte)
        }
        throw Failure(
            description: "The server for S3 did not start: see the script's complaint above")
    }
}

/// A bucket of a test, as another program sees it.
package struct S3TestBucket: Sendable {
    package let server: S3TestServer
    package let name: String

    /// The keys of all objects, in order.
    package func keys() throws -> [String] {
        try server.tell(["do": "keys", "bucket": name]) as? [String] ?? []
    }

    /// How many requests there were for the bucket.
    package func requests() throws -> Int {
        try server.tell(["do": "requests", "bucket": name]) as? Int ?? 0
    }

    package func get(_ key: String) throws -> [UInt8] {
        let text = try server.tell(["do": "get", "bucket": name, "key": key]) as? String ?? ""
        return Array(Data(base64Encoded: text) ?? Data())
    }

    package func put(_ bytes: [UInt8], at key: String) throws {
        let text = Data(bytes).base64EncodedString()
        try server.tell(["do": "put", "bucket": name, "key": key, "bytes": text])
    }

    package func remove(_ key: String) throws {
        try server.tell(["do": "remove", "bucket": name, "key": key])
    }

    /// Refuses the next requests, of one method if it is given.
    package func refuse(
        _ count: Int, _ method: String? = nil, status: Int = 503, code: String = "SlowDown",
        message: String = "Please reduce your request rate."
    ) throws {
        var command: [String: Any] = [
            "do": "fail", "bucket": name, "count": count, "status": status, "code": code,
            "message": message,
        ]
        command["method"] = method
        try server.tell(command)
    }

    /// Breaks off the next answers of a method after so many bytes.
    package func breakOff(_ count: Int, _ method: String = "GET", after bytes: Int) throws {
        try server.tell([
            "do": "fail", "bucket": name, "count": count, "method": method, "after": bytes,
        ])
    }
}
