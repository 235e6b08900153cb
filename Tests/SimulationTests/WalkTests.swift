// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import TestSupport
import Testing

/// Whole clouds that walk at random, through crashes and broken connections: a few of each kind, `Scripts/nightly` goes through thousands.
@Suite(.hangs) struct WalkTests {
    @Test(
        "PUSH-13, PUSH-14, SUB-46, SUB-62: whatever happens, everybody gets the pushes they must get",
        arguments: 0..<3 as Range<UInt64>)
    func walks(block: UInt64) async {
        for seed in block * 10 + 1...block * 10 + 10 { await check(Walk(seed: seed)) }
    }

    @Test(
        "SUB-65: walks that once failed: a zone goes with its subscriptions while a pass runs",
        arguments: [236, 559, 1471] as [UInt64])
    func walksThatFailed(seed: UInt64) async { await check(Walk(seed: seed)) }

    /// How many walks with returns there are: `Scripts/nightly` goes through more.
    private static let returnSeeds =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_RETURNS"].flatMap { UInt64($0) } ?? 10

    @Test(
        "H6, PUSH-14: whatever moment the store comes back from, nothing is given twice, all end alike",
        .onSQLite,
        arguments: 0..<returnSeeds / 10 as Range<UInt64>)
    func returns(block: UInt64) async {
        for seed in block * 10 + 1...block * 10 + 10 {
            await check(Walk(seed: seed, hasReturns: true))
        }
    }

    @Test(
        "PUSH-14, ASSET-4: requests come again, files are cut, late and lost, wake-ups do not come",
        arguments: 0..<1 as Range<UInt64>)
    func wide(block: UInt64) async {
        for seed in block * 10 + 1...block * 10 + 10 { await check(Walk(seed: seed, isWide: true)) }
    }

    @Test(
        "PUSH-13, PUSH-14: several pipelines share a store and lose leases; nothing is sent twice",
        arguments: 0..<2 as Range<UInt64>, [2, 3])
    func pipelines(block: UInt64, count: Int) async {
        for seed in block * 5 + 1...block * 5 + 5 {
            await check(Walk(seed: seed, pipelines: count))
        }
    }

    @Test(
        "QUERY-3, QUERY-17: while others write and indexes come and go, queries find what is there",
        arguments: 0..<1 as Range<UInt64>)
    func queries(block: UInt64) async {
        for seed in block * 10 + 1...block * 10 + 10 {
            await check(Walk(seed: seed, hasQueries: true))
        }
    }

    @Test(
        "TOK-25, SUB-57, SHARE-7, SHARE-13, SHARE-14, SHARE-20, SHARE-21: whoever shares, moves, leaves or dies, all see what they may, never more",
        arguments: 0..<2 as Range<UInt64>)
    func sharing(block: UInt64) async {
        for seed in block * 2 + 1...block * 2 + 2 {
            await check(Walk(seed: seed, hasSharing: true))
        }
    }

    private func check(_ walk: Walk) async {
        do {
            _ = try await Simulation.run(walk)
        } catch {
            Issue.record("\(error)\n\(await walk.shrunk(failing: error))")
        }
    }
}
