// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellScheduling
import TidebellWire

/// Where the server has its root key from.
package enum RootKeySource: Sendable, Hashable {
    /// A file in the data folder, made at the first start.
    case dataFolder
    /// A file elsewhere, with the bytes or their digits.
    case file(URL)
    /// The digits themselves: a variable of the environment.
    case text(String)
    /// What a command of the shell prints.
    case command(String)

    /// The variable of the environment that may hold the key.
    package static let variable = "TIDEBELL_ROOT_KEY"
    /// How long the command may take.
    static let commandTime = Duration.seconds(60)
    /// The most that is read of a file or command.
    private static let longest = 4096

    /// Returns the key; what the operator can put right fails with ``OperatorError``.
    ///
    /// - Parameter isNeeded: Whether the store holds keys that another one cannot open:
    ///   then none is made.
    func key(in dataFolder: URL, isNeeded: Bool) throws -> RootKey {
        switch self {
        case .dataFolder:
            let url = DataFolder.rootKey(in: dataFolder)
            if FileManager.default.fileExists(atPath: url.path) { return try Self.read(url) }
            guard !isNeeded else {
                throw OperatorError(
                    "The root key \(url.path) is missing, and encrypted fields and files cannot "
                        + "be read without it. Put it back, or name its location with "
                        + "--root-key-file, \(Self.variable) or --root-key-command. If it is "
                        + "lost, --accept-lost-keys deletes everything that needs it."
                )
            }
            return try Self.make(at: url)
        case .file(let url): return try Self.read(url)
        case .text(let text): return try Self.key(Array(text.utf8), from: Self.variable)
        case .command(let command):
            let output = try Self.output(of: command, within: Self.commandTime)
            return try Self.key(output, from: "the root key command")
        }
    }

    /// Whether it is a file that is not there.
    var isMissingFile: Bool {
        guard case .file(let url) = self else { return false }
        return access(url.path, F_OK) != 0 && errno == ENOENT
    }

    /// Makes the key of a file that is not there.
    func make() throws -> RootKey {
        guard case .file(let url) = self else { preconditionFailure("only files are made") }
        return try Self.make(at: url)
    }

    /// Returns the key with this name, and makes none; nil where it is not at hand.
    ///
    /// A key that an option names must be the right one. A key in the data folder or in the
    /// environment need not: a check, or a backup of what there is, goes on without
    /// it, and what is wrong with it is a problem.
    func knownKey(
        in dataFolder: URL, named id: String?
    ) throws -> (key: RootKey?, problem: StoreProblem?) {
        guard let id else { return (nil, nil) }
        switch self {
        case .dataFolder:
            let path = DataFolder.rootKey(in: dataFolder).path
            guard access(path, F_OK) == 0 || errno != ENOENT else { return (nil, nil) }
            return known(
                in: dataFolder, named: id, orElse: .damage,
                "the file \(DataFolder.rootKeyName) in the data folder is not the root key of "
                    + "this cloud: put that one there, or remove this one where the server has "
                    + "its key from elsewhere"
            )
        case .text:
            return known(
                in: dataFolder, named: id, orElse: .warning,
                "the variable \(Self.variable) is not the root key of this cloud: set it to that "
                    + "one, or unset it"
            )
        case .file, .command:
            let key = try key(in: dataFolder, isNeeded: true)
            guard key.rootKeyID == id else {
                throw OperatorError(
                    "This is not the root key that the fields and files of this cloud were "
                        + "encrypted with. Name that one, or none."
                )
            }
            return (key, nil)
        }
    }

    /// - Parameter failure: How bad it is that there is no key at all in what there is.
    private func known(
        in dataFolder: URL, named id: String, orElse failure: StoreProblem.Severity,
        _ otherKey: String
    ) -> (key: RootKey?, problem: StoreProblem?) {
        do {
            let key = try key(in: dataFolder, isNeeded: true)
            return key.rootKeyID == id
                ? (key, nil) : (nil, StoreProblem(otherKey, .warning))
        } catch {
            // NB: not the error's own words, which explain how a new key is made.
            return (nil, StoreProblem("\(otherKey) (it cannot be read, or is none)", failure))
        }
    }

    private static func read(_ url: URL) throws -> RootKey {
        do {
            return try key(DurableFile.contents(of: url, upTo: longest), from: url.path)
        } catch let error as DiskError {
            throw OperatorError("The root key file \(url.path) cannot be read: \(error.reason).")
        }
    }

    private static func make(at url: URL) throws -> RootKey {
        let bytes = Randomness.system.makeBytes(RootKey.length)
        // Of a name that no other node has, which may make one at the same moment.
        let draft = url.appendingPathExtension("new-\(AssetFolder.randomName())").path
        do {
            let file = try IncomingFile(path: draft, limit: .max)
            try file.write(Array((Hex.text(bytes) + "\n").utf8))
            _ = try file.finish(named: url.lastPathComponent, movingTo: url, in: DurableFolders())
        } catch {
            throw OperatorError("The root key \(url.path) cannot be made: \(error)")
        }
        // As it is there: another node may have made one at the same moment.
        return try read(url)
    }

    /// Reads a key as bytes, as 64 hexadecimal digits or in Base64.
    private static func key(_ text: [UInt8], from source: String) throws -> RootKey {
        if text.count == RootKey.length {
            guard !text.allSatisfy(isText) else {
                throw OperatorError(
                    "The root key of \(source) is \(RootKey.length) characters of text, which "
                        + "are not random bytes. Use the \(2 * RootKey.length) hexadecimal digits "
                        + "of a random key (openssl rand -hex \(RootKey.length)); for a cloud whose "
                        + "key this text is, those of its bytes (od -An -v -tx1 FILE | tr -d ' \\n')."
                )
            }
            return RootKey(text)
        }
        let digits = String(decoding: text, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let bytes = Hex.bytes(digits[...]) ?? Data(base64Encoded: digits).map { [UInt8]($0) }
        guard let bytes, bytes.count == RootKey.length else {
            throw OperatorError(
                "The root key of \(source) must be \(RootKey.length) random bytes, binary, "
                    + "in hexadecimal digits or in Base64 (openssl rand -hex \(RootKey.length))."
            )
        }
        return RootKey(bytes)
    }

    /// Whether a byte stands for something that is typed; of random keys one in 10^13 has no
    /// other.
    private static func isText(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) || (0x09...0x0D).contains(byte)
    }

    /// Returns what a command of the shell prints.
    static func output(of command: String, within limit: Duration) throws -> [UInt8] {
        do {
            return try ShellCommand(command).output(below: longest, within: limit)
        } catch let failure as ShellCommand.Failure {
            throw OperatorError("The root key command \(Self.sentence(failure, limit)).")
        }
    }

    private static func sentence(_ failure: ShellCommand.Failure, _ limit: Duration) -> String {
        switch failure {
        case .notRun(let reason): "cannot be run: \(reason)"
        case .unknownEnd(let reason): "ended for an unknown reason: \(reason)"
        case .tooLong:
            "did not end within \(limit.components.seconds) seconds; it gets no input and must not "
                + "wait for any"
        case .tooMuch: "printed \(longest) bytes or more, which cannot be a key"
        case .signal(let number): "was ended by signal \(number)"
        case .status(let number): "failed with status \(number)"
        }
    }
}
