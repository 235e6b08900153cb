// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellCore
import TidebellWire

/// The configuration file: one JSON object, a section for each part with more options
/// than fit on a command line.
extension ServerConfiguration {
    /// The file of the data folder that is read if there is one.
    package static let fileName = "tidebell.json"
    /// The bytes a configuration file may have.
    private static let fileLimit = 1 << 20

    /// Takes over what a configuration file has; nil stands for the one of the data
    /// folder, which need not exist. Paths in it are relative to its folder.
    ///
    /// A file that cannot be read or understood fails with ``OperatorError``, naming
    /// the location.
    package mutating func readFile(_ file: URL? = nil) throws {
        let url = file ?? dataFolder.appendingPathComponent(Self.fileName)
        if file == nil, !FileManager.default.fileExists(atPath: url.path) { return }
        guard let data = try? Data(contentsOf: url) else {
            throw OperatorError("The configuration file \(url.path) cannot be read.")
        }
        guard data.count <= Self.fileLimit else {
            throw OperatorError(
                "The configuration file \(url.path) is larger than \(Self.fileLimit) bytes."
            )
        }
        do {
            try JSONReader.read(Array(data)) { reader in
                try reader.readObject { reader, section in
                    try read(section, from: &reader, folder: url.deletingLastPathComponent())
                }
            }
        } catch let error as JSONError {
            throw OperatorError("The configuration file \(url.path) is wrong: \(error).")
        }
    }

    private mutating func read(
        _ section: MemberName, from reader: inout JSONReader, folder: URL
    ) throws {
        switch section {
        case "apns": apns = try APNsSettings(from: &reader, folder: folder)
        default: throw JSONError("unknown section; known is apns")
        }
    }
}
