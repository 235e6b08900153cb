// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The folder in which a device keeps what outlives the process.
///
/// The folder is readable by its owner only (0700), so are the files (0600). Files
/// are replaced as a whole, so that a reader never sees half of one.
package struct DeviceState: Sendable {
    /// The file with the ID of the device.
    package static let deviceIDFile = "device-id"

    /// The longest file that is read, in bytes.
    package static let maximumFileSize = 4096

    /// The folder.
    package let folder: URL

    /// Takes a folder, which need not exist yet.
    package init(folder: URL) {
        self.folder = folder
    }

    /// Returns the ID of the device, which is made at the first call.
    ///
    /// Fails with `internalError` when the folder cannot be written.
    package func deviceID() throws(DeviceError) -> String {
        do {
            if let known = try read(Self.deviceIDFile) { return known }
            // Two processes may come here at once: only one link can be made, and
            // both then read that one.
            let draft = try writeDraft(
                NewIdentifier.make().lowercased(), of: Self.deviceIDFile, isDurable: true
            )
            defer { unlink(draft.path) }
            let path = folder.appendingPathComponent(Self.deviceIDFile).path
            if link(draft.path, path) != 0, try read(Self.deviceIDFile) == nil {
                // An empty file, as a loss of power may leave it.
                _ = rename(draft.path, path)
            }
            guard let made = try read(Self.deviceIDFile) else { throw StateError(errno) }
            return made
        } catch {
            throw DeviceError(
                .internalError,
                "The device's folder \(folder.path) cannot be used: \(error). Set "
                    + "\(DeviceConfiguration.Variable.home) to a folder that can be written."
            )
        }
    }

    /// Returns the text of a file; nil when it is missing or empty.
    package func read(_ name: String, upTo limit: Int = maximumFileSize) throws -> String? {
        let path = folder.appendingPathComponent(name).path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw StateError(errno) }
            return nil
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let data = try file.read(upToCount: limit), !data.isEmpty else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Replaces a file.
    package func write(_ text: String, to name: String, isDurable: Bool) throws {
        let draft = try writeDraft(text, of: name, isDurable: isDurable)
        guard rename(draft.path, folder.appendingPathComponent(name).path) == 0 else {
            let failure = StateError(errno)
            unlink(draft.path)
            throw failure
        }
    }

    /// Returns the open file that locks others out until it is closed.
    package func lock(_ name: String) throws -> Int32 {
        try makeFolder()
        let path = folder.appendingPathComponent(name).path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StateError(errno) }
        guard flock(descriptor, LOCK_EX) == 0 else {
            let failure = StateError(errno)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    private func writeDraft(_ text: String, of name: String, isDurable: Bool) throws -> URL {
        try makeFolder()
        let draft = folder.appendingPathComponent(".\(name).\(NewIdentifier.make())")
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StateError(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data((text + "\n").utf8))
            // Else a loss of power may leave the name without the text.
            if isDurable { try file.synchronize() }
            try file.close()
        } catch {
            unlink(draft.path)
            throw error
        }
        return draft
    }
}

/// A failure of the operating system, by its number.
private struct StateError: Error, CustomStringConvertible {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    var description: String { String(cString: strerror(number)) }
}

extension stat {
    /// When the file was written last.
    package var modification: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
