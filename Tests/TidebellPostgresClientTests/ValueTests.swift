// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellPostgresClient

@Suite(.hangs) struct ValueTests {
    @Test func `Whole numbers arrive as they were, from the lowest to the highest`() throws {
        let connection = try TestDatabase().connect()
        let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        let echoed = try connection.all(
            "SELECT a FROM unnest($1) WITH ORDINALITY AS t (a, n) ORDER BY n",
            [.int64Array(numbers)]
        ) { $0.int(0) }
        #expect(echoed == numbers)
        for number in numbers {
            #expect(try connection.number("SELECT $1", [.int64(number)]) == number)
        }
    }

    @Test func `Smaller numbers, booleans and numerics without a fraction read as whole numbers`()
        throws
    {
        let connection = try TestDatabase().connect()
        let numbers = try connection.all(
            """
            SELECT (-32768)::int2, (-2147483648)::int4, true, false, 4294967295::oid,
                NULL::int8, 0::numeric, 10000::numeric, 100000000.00::numeric,
                (-9223372036854775808)::numeric, 9223372036854775807::numeric, -1::numeric
            """
        ) { row in (0..<row.columnCount).map { row.int($0) } }
        #expect(
            numbers == [
                [
                    -32768, -2_147_483_648, 1, 0, 4_294_967_295, 0, 0, 10_000, 100_000_000, .min,
                    .max, -1,
                ]
            ])
    }

    @Test func `A sum of numbers reads as a whole number`() throws {
        let connection = try TestDatabase().connect()
        let sum = try connection.number(
            "SELECT sum(a) FROM unnest($1) AS t (a)", [.int64Array([.max, -12_345_678, nil, -9])])
        #expect(sum == Int64.max - 12_345_687)
    }

    @Test(arguments: [
        "SELECT 0.5::numeric", "SELECT 9223372036854775808::numeric", "SELECT 'NaN'::numeric",
        "SELECT 'Infinity'::numeric", "SELECT 1e30::numeric", "SELECT 'text'", "SELECT 1.5::float8",
    ])
    func `What is no whole number of 64 bits is an error that names column and type`(sql: String)
        throws
    {
        let connection = try TestDatabase().connect()
        let error = #expect(throws: PostgresError.self) { try connection.number(sql) }
        #expect(error?.sql == sql)
        #expect(error?.message.contains("column 0 (") == true)
        #expect(try connection.number("SELECT 1") == 1)
    }

    @Test func `Bytes arrive as they were, with NUL and what is no UTF-8`() throws {
        let connection = try TestDatabase().connect()
        let values: [[UInt8]] = [
            [], [0], [0, 1, 0], [0xFF, 0xFE, 0x80], Array(0...255),
            [UInt8](repeating: 7, count: 3_000_000),
        ]
        for value in values {
            let echoed = try connection.all("SELECT $1, $2", [.bytea(value), .null(.bytea)]) {
                (bytes: Array($0.bytes(0)), isNull: $0.isNull(0), isOtherNull: $0.isNull(1))
            }
            #expect(echoed.map(\.bytes) == [value])
            #expect(echoed.map(\.isNull) == [false])
            #expect(echoed.map(\.isOtherNull) == [true])
        }
    }

    @Test func `Texts are their bytes: with U+0000, and ordered by them`() throws {
        let connection = try TestDatabase().connect()
        let texts = ["", "\u{0}", "a\u{0}b", "Z", "a", "é", "e\u{301}", "\u{FFFF}", "🎵"]
        let echoed = try connection.all(
            "SELECT a FROM unnest($1) AS t (a) ORDER BY a",
            [.byteaArray(texts.reversed().map { Array($0.utf8) })]
        ) { $0.string(0) }
        let ordered = texts.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        #expect(echoed.map { Array($0.utf8) } == ordered.map { Array($0.utf8) })
        let one = try connection.all("SELECT $1", [.text("a\u{0}é")]) { $0.string(0) }
        #expect(one == ["a\u{0}é"])
    }

    @Test func `Bytes that are no UTF-8 read as a text with replacement characters`() throws {
        let connection = try TestDatabase().connect()
        let text = try connection.all("SELECT $1", [.bytea([0x61, 0xFF])]) { $0.string(0) }
        #expect(text == ["a\u{FFFD}"])
    }

    @Test func `Arrays may be empty and hold NULL, NUL bytes and empty values`() throws {
        let connection = try TestDatabase().connect()
        let numbers: [[Int64?]] = [[], [nil], [1, nil, .min]]
        for array in numbers {
            let echoed = try connection.all(
                "SELECT a FROM unnest($1) WITH ORDINALITY AS t (a, n) ORDER BY n",
                [.int64Array(array)]
            ) { $0.isNull(0) ? nil : $0.int(0) }
            #expect(echoed == array)
        }
        let byteArrays: [[[UInt8]?]] = [[], [nil], [[]], [[0], nil, [], [0, 0xFF]]]
        for array in byteArrays {
            let echoed = try connection.all(
                "SELECT a FROM unnest($1) WITH ORDINALITY AS t (a, n) ORDER BY n",
                [.byteaArray(array)]
            ) { $0.isNull(0) ? nil : Array($0.bytes(0)) }
            #expect(echoed == array)
        }
        let isNull = try connection.all("SELECT $1, $2", [.null(.int8Array), .null(.byteaArray)]) {
            $0.isNull(0) && $0.isNull(1)
        }
        #expect(isNull == [true])
    }
}
