// SPDX-License-Identifier: Apache-2.0

/// How much of a query's rows its reader takes at most, where each has the column `fields`: so many, and none
/// behind the one that brings the bytes of `fields` to more than `bytes`.
///
/// An engine over a network sends no more than a row beyond that, and so needs no cursor.
package struct ScanBound: Sendable, Hashable {
    package var rows: Int
    package var bytes: Int

    package init(rows: Int, bytes: Int) {
        self.rows = rows
        self.bytes = bytes
    }

    /// Whether whoever has the rows of this bound has those of another one.
    package func covers(_ other: ScanBound) -> Bool { rows >= other.rows && bytes >= other.bytes }
}
