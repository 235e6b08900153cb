// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellWire

/// A user who is signed in to a container on this device, as `tidebell login` keeps it.
package struct SignedInSession: Sendable, Hashable {
    /// The container's identifier.
    package var container: String
    /// `development` or `production`.
    package var environment: String
    /// The server's address.
    package var server: String
    /// The API token of the container.
    package var apiToken: String
    /// The web token of the user; another one after each renewal.
    package var webAuthToken: String
    /// The name of the user's account.
    package var user: String
    /// The name of the user's record in the container.
    package var userRecordName: String

    /// Creates a session.
    package init(
        container: String,
        environment: String,
        server: String,
        apiToken: String,
        webAuthToken: String,
        user: String,
        userRecordName: String
    ) {
        self.container = container
        self.environment = environment
        self.server = server
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
        self.user = user
        self.userRecordName = userRecordName
    }

    /// Whether the session is of the same container and environment.
    package func hasSameAddress(as other: SignedInSession) -> Bool {
        container == other.container && environment == other.environment
    }

    /// Whether the session is with this server; a slash at the end makes no difference.
    package func isAt(_ address: URL) -> Bool {
        func trimmed(_ text: String) -> Substring {
            text.hasSuffix("/") ? text.dropLast() : text[...]
        }
        return trimmed(server) == trimmed(address.absoluteString)
    }

    /// Whether the session is of the same user of the same server.
    func hasSameAccount(as other: SignedInSession) -> Bool {
        server == other.server && userRecordName == other.userRecordName
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("container", container)
            writer.member("environment", environment)
            writer.member("server", server)
            writer.member("apiToken", apiToken)
            writer.member("webAuthToken", webAuthToken)
            writer.member("user", user)
            writer.member("userRecordName", userRecordName)
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var members: [String: String] = [:]
        try reader.readObject { reader, name in
            members[name.text] = try reader.readString()
        }
        func member(_ name: String) throws -> String {
            guard let value = members[name] else { throw JSONError("missing field '\(name)'") }
            return value
        }
        self.init(
            container: try member("container"),
            environment: try member("environment"),
            server: try member("server"),
            apiToken: try member("apiToken"),
            webAuthToken: try member("webAuthToken"),
            user: try member("user"),
            userRecordName: try member("userRecordName")
        )
    }
}

/// The file with the sessions of a device, which several processes read and change.
///
/// Readable by its owner only, replaced as a whole, and changed by one process at a
/// time.
package struct SessionFile: Sendable {
    /// The file in the state folder.
    package static let name = "sessions.json"
    /// The file that whoever changes the other one holds a lock on.
    private static let lockName = "sessions.lock"
    /// The longest file that is read, in bytes.
    package static let maximumFileSize = 1 << 20
    /// The most sessions of a device.
    package static let maximumSessions = 1000

    /// What distinguishes a file from the one that was read before.
    package struct Stamp: Equatable, Sendable {
        package var inode: UInt64
        package var size: Int64
        package var seconds: Int
        package var nanoseconds: Int

        /// Creates a stamp.
        package init(inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int) {
            self.inode = inode
            self.size = size
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }
    }

    private let state: DeviceState

    /// Takes the device's folder.
    package init(folder: URL) {
        state = DeviceState(folder: folder)
    }

    private var path: String { state.folder.appendingPathComponent(Self.name).path }

    /// Returns what distinguishes the file from the one before; nil when there is none.
    package func stamp() -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            seconds: status.modification.tv_sec,
            nanoseconds: status.modification.tv_nsec
        )
    }

    /// Returns the sessions; none when there is no file.
    package func read() throws(DeviceError) -> [SignedInSession] {
        do {
            guard let text = try state.read(Self.name, upTo: Self.maximumFileSize) else {
                // Nobody writes an empty one: whoever was in it is not signed out.
                guard stamp() == nil else { throw JSONError("it is empty") }
                return []
            }
            var sessions: [SignedInSession] = []
            try JSONReader.read(Array(text.utf8)) { reader in
                try reader.readObject { reader, name in
                    guard name == "sessions" else { return try reader.skipValue() }
                    try reader.readArray { sessions.append(try SignedInSession(from: &$0)) }
                }
            }
            return sessions
        } catch {
            throw DeviceError(
                .badContainer,
                "\(path) cannot be read: \(error). Sign in again: tidebell login."
            )
        }
    }

    /// Changes the sessions while no other process does.
    package func change(
        _ body: (inout [SignedInSession]) -> Void
    ) throws(DeviceError) {
        do {
            let lock = try state.lock(Self.lockName)
            defer { close(lock) }
            var sessions = (try? read()) ?? []
            let before = sessions
            body(&sessions)
            guard sessions != before || stamp() == nil else { return }
            let text = JSONWriter.write { writer in
                writer.object { writer in
                    writer.key("sessions")
                    writer.array(sessions.suffix(Self.maximumSessions)) { $1.write(to: &$0) }
                }
            }
            try state.write(String(decoding: text, as: UTF8.self), to: Self.name, isDurable: true)
        } catch {
            throw DeviceError(
                .internalError,
                "\(path) cannot be written: \(error). Set \(DeviceConfiguration.Variable.home) "
                    + "to a folder that can be."
            )
        }
    }
}
