// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The IDs by which tokens and sessions are listed and ended: not secret.
package enum TokenID {
    /// The fewest digits by which one is found.
    private static let fewestDigits = 4

    /// Whether an operator means this one by a text: the beginning of an ID is enough.
    static func text(_ text: String, names id: String) -> Bool {
        text.count >= fewestDigits && id.hasPrefix(text.lowercased())
    }
}

extension SessionID {
    /// Bytes of an ID: among a million, two are the same once in ten million stores.
    private static let byteCount = 8

    /// The ID of the session that begins with a token: the beginning of its hash, of
    /// which nobody can derive the token, and the cell that keeps it.
    package init(beginningWith hash: [UInt8], in cell: CellNumber) {
        self.init(rawValue: Hex.text(Array(hash.prefix(Self.byteCount))) + cell.digits)
    }

    /// The cell that keeps the session.
    package var cell: CellNumber { CellNumber(of: rawValue, behind: Self.byteCount * 2) }
}

extension StoredToken {
    /// What the token is called when it is listed and ended.
    package var id: String { SessionID(beginningWith: hash, in: .directory).rawValue }
}
