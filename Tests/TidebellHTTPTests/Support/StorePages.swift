// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellTestStores
import Testing
import TidebellCore

@testable import TidebellSQL
@testable import TidebellSQLite
import GRDB

/// The pages of a store's file, to be damaged (https://sqlite.org/fileformat2.html). Trees
/// are those of indexes and tables without row IDs.
struct StorePages {
    /// A page, and where its number stands in the file.
    struct Page {
        enum Kind { case root, interior, leaf, overflow }

        var number: Int
        var kind: Kind
        /// Where the number of the page stands; nil for a root.
        var pointer: Int?
        /// The records that are lost with it, where it is the table's.
        var names: Set<String> = []
    }

    static let size = 4096
    static let nowhere: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]

    var bytes: [UInt8]
    /// The number of the first page of each table and index.
    let roots: [String: Int]

    /// Reads the file of a store that is closed then.
    init(closing store: any Store) async throws {
        let store = try #require(store.engine as? SQLiteStore)
        roots = try await store.read { reader in
            let reader = try #require(reader as? SQLReader)
            let rows = try reader.connection.rows("SELECT name, rootpage FROM sqlite_schema") {
                ($0.text(0), Int($0.int(1)))
            }
            return Dictionary(uniqueKeysWithValues: rows)
        }
        let path = store.pool.path
        try await store.close()
        bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Writes the pages as the store of a folder that is not there yet.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appendingPathComponent(SQLiteFactory.fileName))
    }

    /// The pages of a table or an index.
    func pages(of tree: String) throws -> [Page] {
        var pages: [Page] = []
        _ = walk(try #require(roots[tree]), pointer: nil, isTable: tree == "record", &pages)
        return pages
    }

    mutating func overwrite(_ page: Page, with content: [UInt8]) {
        let start = (page.number - 1) * Self.size
        bytes.replaceSubrange(start..<start + Self.size, with: content)
    }

    /// The bytes of a page.
    func content(of page: Page) -> [UInt8] {
        let start = (page.number - 1) * Self.size
        return Array(bytes[start..<min(bytes.count, start + Self.size)])
    }

    /// Changes one bit of every occurrence of a text; returns how many these are.
    mutating func flip(_ bit: UInt8, ofLastByteOf text: String, before next: String) -> Int {
        let wanted = Array((text + next).utf8)
        var count = 0
        for start in 0..<bytes.count - wanted.count
        where bytes[start] == wanted[0] && bytes[start..<start + wanted.count].elementsEqual(wanted)
        {
            bytes[start + text.utf8.count - 1] ^= bit
            count += 1
        }
        return count
    }

    mutating func redirect(at offset: Int, to number: [UInt8]) {
        bytes.replaceSubrange(offset..<offset + 4, with: number)
    }

    private func number(_ offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private func varint(_ offset: inout Int) -> Int {
        var value = 0
        for _ in 0..<9 {
            let byte = bytes[offset]
            offset += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return value
    }

    /// Adds a page and those below it; returns the records on them.
    private func walk(
        _ page: Int, pointer: Int?, isTable: Bool, _ pages: inout [Page]
    ) -> Set<String> {
        let start = (page - 1) * Self.size
        let isInterior = bytes[start] == 2
        let index = pages.count
        pages.append(
            Page(
                number: page, kind: pointer == nil ? .root : isInterior ? .interior : .leaf,
                pointer: pointer
            )
        )
        var names: Set<String> = []
        for cell in 0..<number(start + 3, 2) {
            var offset = start + number(start + (isInterior ? 12 : 8) + 2 * cell, 2)
            if isInterior {
                names.formUnion(
                    walk(number(offset, 4), pointer: offset, isTable: isTable, &pages))
                offset += 4
            }
            let payload = varint(&offset)
            let name = isTable ? name(ofRowAt: offset) : ""
            names.insert(name)
            addOverflow(ofRowAt: offset, payload, name, &pages)
        }
        if isInterior {
            names.formUnion(
                walk(number(start + 8, 4), pointer: start + 8, isTable: isTable, &pages))
        }
        if isTable { pages[index].names = names }
        return names
    }

    private func addOverflow(
        ofRowAt offset: Int, _ payload: Int, _ name: String, _ pages: inout [Page]
    ) {
        let most = (Self.size - 12) * 64 / 255 - 23
        guard payload > most else { return }
        let least = (Self.size - 12) * 32 / 255 - 23
        let rest = least + (payload - least) % (Self.size - 4)
        var pointer = offset + (rest <= most ? rest : least)
        while number(pointer, 4) != 0 {
            let page = number(pointer, 4)
            pages.append(Page(number: page, kind: .overflow, pointer: pointer, names: [name]))
            pointer = (page - 1) * Self.size
        }
    }

    /// The third column of a row: behind its zone and its position.
    private func name(ofRowAt offset: Int) -> String {
        var header = offset
        let end = offset + varint(&header)
        func size(_ type: Int) -> Int {
            type >= 12 ? (type - 12) / 2 : [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][type]
        }
        let first = size(varint(&header)) + size(varint(&header))
        let length = size(varint(&header))
        return String(decoding: bytes[end + first..<end + first + length], as: UTF8.self)
    }
}
