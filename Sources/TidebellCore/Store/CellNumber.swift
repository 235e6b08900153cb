// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A cell of a cloud: one of its PostgreSQL clusters. A cloud in one file or one cluster has the first only.
///
/// Numbers that a cell gives begin with its own, so that an ID says where it was given, which is where what it names
/// still is, unless it was moved. Accounts never are: what an account's number says is where its sessions are.
package struct CellNumber: RawRepresentable, Sendable, Hashable, Comparable {
    /// The bits of a number below its cell's: more than a thousand for each millisecond up to the year 2100, since a
    /// new life of a store begins at the clock.
    private static let bits = 52
    /// The most cells.
    package static let limit = 1 << (63 - bits)
    /// The one that has the directory, and all that is not spread.
    package static let directory = CellNumber(rawValue: 0)

    package let rawValue: Int

    /// Names a cell.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The cell that gave a number.
    package init(thatGave number: Int64) { rawValue = Int(max(number, 0) >> Self.bits) }

    /// The number before the first one that the cell gives.
    package var start: Int64 { Int64(rawValue) << Self.bits }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    // MARK: In tokens

    /// The digits of ``digits`` for all cells but the first.
    package static let digitCount = 4

    /// How a web token, and the ID of a session, say in which cell they are kept: at their end, in hexadecimal; the first
    /// cell's have nothing there.
    package var digits: String {
        guard self != .directory else { return "" }
        return Hex.text([UInt8(rawValue >> 8 & 0xFF), UInt8(rawValue & 0xFF)])
    }

    /// The cell that a text of `length` digits names behind them; the first one where nothing is.
    init(of text: some StringProtocol, behind length: Int) {
        guard text.utf8.count == length + Self.digitCount,
            let bytes = Hex.bytes(Substring(text.suffix(Self.digitCount)))
        else {
            self = .directory
            return
        }
        rawValue = Int(bytes[0]) << 8 | Int(bytes[1])
    }
}

extension AccountID {
    /// The cell that keeps the account's sessions.
    package var cell: CellNumber { CellNumber(thatGave: rawValue) }
}

/// The hash under which a web token is kept, and the cell that keeps it.
package struct WebTokenHash: Sendable, Hashable {
    /// The digits of a web token before those of its cell.
    package static let secretLength = 64

    package let digest: [UInt8]
    package let cell: CellNumber

    package init(digest: [UInt8], in cell: CellNumber) {
        self.digest = digest
        self.cell = cell
    }

    /// Splits a token into what is hashed, and the cell that it names.
    ///
    /// - Parameter hash: The hash of a text.
    package init(of token: String, _ hash: (String) -> [UInt8]) {
        cell = CellNumber(of: token, behind: Self.secretLength)
        digest = hash(cell == .directory ? token : String(token.dropLast(CellNumber.digitCount)))
    }
}
