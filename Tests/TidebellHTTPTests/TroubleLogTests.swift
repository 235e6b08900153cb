// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling

@testable import TidebellSQLite
@testable import TidebellServer
import HTTPTypes
import Logging

@Suite("What the log has of the store and the disk")
struct TroubleLogTests {
    @Test("M3: one line when trouble begins, however often calls fail, and one when it is over")
    func oneLine() async throws {
        let api = try await TestAPI(logLevel: .notice)
        let store = try #require(api.cloud.store as? any OpenedStore)
        TroubleLog(logger: api.log.logger).follow(store)
        for cause in StoreUnavailable.Cause.allCases {
            for _ in 0..<100 { store.troubles.note(StoreUnavailable(cause, detail: "why")) }
        }
        // Of a store in several cells, the first one's.
        let lines = api.log.detailedLines.map {
            $0.replacing("a cell of the store", with: "the store")
                .replacing(#""cell=directory", "#, with: "")
        }
        #expect(
            lines == [
                #"the store does not work; clients are asked to try again ["#
                    + #""cause=diskIsFull", "error=why"]"#
            ]
        )
    }

    @Test("Each cell of a store has lines and a metric of its own")
    func cells() {
        let (log, metrics) = (TestLog(level: .notice), PrometheusMetrics())
        let now = Locked(Duration.zero)
        let (east, west) = (StoreTroubles { now.current }, StoreTroubles { now.current })
        TroubleLog(logger: log.logger, metrics: metrics).follow(["east": east, "west": west])
        let isFailing = {
            metrics.text.split(separator: "\n").filter { $0.hasPrefix("tidebell_store_failing{") }
        }
        #expect(
            isFailing() == [
                #"tidebell_store_failing{cell="east"} 0"#,
                #"tidebell_store_failing{cell="west"} 0"#,
            ])
        for _ in 0..<2 { east.note(StoreUnavailable(.isUnreachable, detail: "why")) }
        #expect(
            isFailing() == [
                #"tidebell_store_failing{cell="east"} 1"#,
                #"tidebell_store_failing{cell="west"} 0"#,
            ])
        now.current = StoreTroubles.quietTime
        east.noteSuccess()
        #expect(
            isFailing() == [
                #"tidebell_store_failing{cell="east"} 0"#,
                #"tidebell_store_failing{cell="west"} 0"#,
            ])
        #expect(
            log.detailedLines == [
                #"a cell of the store does not work; clients are asked to try again ["#
                    + #""cause=isUnreachable", "cell=east", "error=why"]"#,
                #"a cell of the store works again ["cell=east"]"#,
            ])
    }

    @Test(
        "M4: a SQLite with the WAL-reset defect is named with what to do, a sound one is not",
        arguments: [(3_040_001, 1), (3_053_001, 0)])
    func defects(number: Int, lines: Int) {
        let log = TestLog(level: .notice)
        TroubleLog(logger: log.logger)
            .nameDefects(of: SQLiteVersion(number: number))
        #expect(log.detailedLines.count == lines)
        #expect(
            log.detailedLines.allSatisfy {
                $0.contains("do not let other programs write") && $0.contains("sqlite=3.40.1")
                    && $0.contains("update SQLite to 3.51.3 or newer")
            }
        )
    }

    @Test("A folder's name is flushed once, before it is used, and again where that failed")
    func folders() throws {
        struct DiskFails: Error {}
        let root = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-folders-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let flushed = Mutex<[String]>([])
        let fails = Mutex(false)
        let folders = DurableFolders { folder in
            if fails.withLock(\.self) { throw DiskFails() }
            flushed.withLock { $0.append(folder.lastPathComponent) }
        }
        let one = root.appendingPathComponent("one").path
        for _ in 0..<3 { try folders.make(one) }
        #expect(flushed.withLock(\.self) == [root.lastPathComponent])
        // Another process made it, and may not have flushed it yet.
        let others = root.appendingPathComponent("one/others").path
        try FileManager.default.createDirectory(
            atPath: others, withIntermediateDirectories: false)
        try folders.make(others)
        #expect(flushed.withLock(\.self) == [root.lastPathComponent, "one"])
        fails.withLock { $0 = true }
        let failed = root.appendingPathComponent("failed").path
        #expect(throws: DiskFails.self) { try folders.make(failed) }
        fails.withLock { $0 = false }
        try folders.make(failed)
        #expect(flushed.withLock(\.self).count == 3)
        let mode = try FileManager.default.attributesOfItem(atPath: failed)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o700)
    }

    @Test("/health fails where the store cannot be read, and reports whether that may pass")
    func health() async throws {
        for (error, status) in [
            (StoreUnavailable(.isLocked, detail: "/secret/path"), 503),
            (StoreUnavailable(.diskFails, detail: "/secret/path"), 503),
            (CocoaError(.fileReadUnknown), 500),
        ] as [(any Error & Sendable, Int)] {
            let cloud = CloudServices(
                store: FailingStore(error: error), secret: .test,
                time: .system, randomness: .system,
                logger: TestLog(level: .error).logger
            )
            let answer = await cloud.respond(.get, "/health")
            #expect(answer.status == status)
            let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
            #expect(!text.contains("secret") && !text.contains(#""ok""#))
        }
    }
}
