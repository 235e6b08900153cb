// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellProcesses

/// Durable saves per second: each request creates one record and is answered
/// when the record would survive a power cut (SQLite, `synchronous = FULL`).
struct SaveBenchmark {
    let server: BenchServer
    private let seconds = 3.0

    func run(clients: Int) throws {
        try server.makeZone("saves")
        var runs: [Double] = []
        for _ in 0..<repetitions { runs.append(try measure(clients: clients)) }
        report("durable saves, \(clients) client\(clients == 1 ? "" : "s")", runs, unit: "per s")
    }

    private func measure(clients: Int) throws -> Double {
        let count = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        let start = Date()
        for client in 0..<clients {
            group.enter()
            Thread.detachNewThread { [server, seconds] in
                defer { group.leave() }
                do {
                    let connection = try HTTPConnection(port: server.program.port)
                    let path = server.path("records/modify", clientID: "writer-\(client)")
                    var number = 0
                    while Date().timeIntervalSince(start) < seconds {
                        _ = try connection.post(
                            path, createNotes(number..<number + 1, zone: "saves"))
                        number += 1
                    }
                    count.wrappingAdd(number, ordering: .relaxed)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
        return Double(count.load(ordering: .relaxed)) / Date().timeIntervalSince(start)
    }
}
