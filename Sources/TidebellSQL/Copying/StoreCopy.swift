// SPDX-License-Identifier: Apache-2.0

/// Copies a store to another engine, and looks whether all is there.
///
/// Tables whose rows are the same in both are left alone, so that a copy that was interrupted goes on
/// where it was when it is made again.
package struct StoreCopy {
    /// Why a store is not copied.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The other store holds a cloud.
        case holdsCloud
        /// The stores have different tables, of which this is one.
        case differentTables(String)
        /// After it was copied a table is not what it should be.
        case differentRows(table: String)

        package var description: String {
            switch self {
            case .holdsCloud: "there is another cloud already"
            case .differentTables(let name):
                "the table '\(name)' is not the same in both stores: use one version of Tidebell for both"
            case .differentRows(let table):
                "the rows of the table '\(table)' are not the same after they were copied; the source "
                    + "is unchanged"
            }
        }
    }

    /// What was copied.
    package struct Outcome: Sendable, Hashable {
        /// Rows in all tables.
        package var rows = 0
        /// Tables that were the same already.
        package var unchangedTables = 0
        package var tables = 0
    }

    private let source: any TableReading
    private let target: any TableWriting

    package init(from source: any TableReading, to target: any TableWriting) {
        self.source = source
        self.target = target
    }

    /// Copies what differs, verifies it, and has the target be served from then on, and the source
    /// not any more.
    ///
    /// - Parameter report: Called with each table once it is the same, and its rows.
    package func run(
        reporting report: (_ table: String, _ rows: Int) throws -> Void
    ) async throws -> Outcome {
        let tables = try source.tables()
        let others = try target.tables()
        if let table = Set(tables).symmetricDifference(others).map(\.name).min() {
            throw Refusal.differentTables(table)
        }
        var outcome = Outcome(tables: tables.count)
        for table in tables {
            var rows = try sameRows(in: table)
            if rows != nil {
                outcome.unchangedTables += 1
            } else {
                guard target.isUnfinished else { throw Refusal.holdsCloud }
                try target.replace(table) { add in try source.rows(of: table, add) }
                rows = try sameRows(in: table)
            }
            guard let rows else { throw Refusal.differentRows(table: table.name) }
            outcome.rows += rows
            try report(table.name, rows)
        }
        if target.isUnfinished { try await target.finish(source.lastNumbers()) }
        try await source.closeAsMigrated()
        return outcome
    }

    /// Returns how many rows a table has where they are the same in both stores, and nil where not.
    private func sameRows(in table: StoreTable) throws -> Int? {
        var checksums = (RowChecksum(), RowChecksum())
        try source.rows(of: table) { checksums.0.add($0) }
        try target.rows(of: table) { checksums.1.add($0) }
        return checksums.0 == checksums.1 ? checksums.0.rows : nil
    }
}

/// Tells rows apart: how many there are, and a number made of all their values in order.
private struct RowChecksum: Equatable {
    private(set) var rows = 0
    /// FNV-1a, over words of 8 bytes, twice with other beginnings: 128 bits.
    private var first: UInt64 = 0xCBF2_9CE4_8422_2325
    private var second: UInt64 = 0x6C62_272E_07BB_0142

    mutating func add(_ row: [CopiedValue]) {
        rows += 1
        for value in row {
            switch value {
            case .null: add(0)
            case .number(let number):
                add(1)
                add(UInt64(bitPattern: number))
            case .bytes(let bytes):
                add(2)
                add(UInt64(bytes.count))
                add(bytes)
            }
        }
    }

    private mutating func add(_ bytes: [UInt8]) {
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word = word << 8 | UInt64(byte)
            if index % 8 == 7 {
                add(word)
                word = 0
            }
        }
        if !bytes.count.isMultiple(of: 8) { add(word) }
    }

    private mutating func add(_ word: UInt64) {
        first = (first ^ word) &* 0x100_0000_01B3
        first ^= first >> 32
        second = (second ^ word) &* 0x9E37_79B9_7F4A_7C15
        second ^= second >> 29
    }
}
