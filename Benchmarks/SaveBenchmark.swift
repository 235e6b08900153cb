// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellProcesses

/// Durable saves per second: each request creates one record and is answered
/// when the record would survive a power cut (SQLite, `synchronous = FULL`).
///
/// As web clients send it, and named, as the `CloudKit` module does so that the server does
/// it once: of a named one the answer is kept in the same transaction. Both in turn, so
/// that they meet the same disk.
struct SaveBenchmark {
    let server: BenchServer
    private let seconds = 3.0

    func run(clients: Int) throws {
        try server.makeZone("saves")
        var unnamed: [Double] = []
        var named: [Double] = []
        for _ in 0..<repetitions {
            unnamed.append(try measure(clients: clients, areNamed: false))
            named.append(try measure(clients: clients, areNamed: true))
        }
        let name = "durable saves, \(clients) client\(clients == 1 ? "" : "s")"
        report(name, unnamed, unit: "per s")
        report("\(name), named", named, unit: "per s")
        let costs = zip(unnamed, named).map { (1 / $1 - 1 / $0) * 1e6 * Double(clients) }
        report("\(name), what a name costs", costs, unit: "µs")
    }

    private func measure(clients: Int, areNamed: Bool) throws -> Double {
        let count = Atomic(0)
        let start = Date()
        try runClients(clients) { [server, seconds] client in
            let connection = try HTTPConnection(port: server.program.port)
            let path = server.path("records/modify", clientID: "writer-\(client)")
            let operation = UUID().uuidString
            var number = 0
            while Date().timeIntervalSince(start) < seconds {
                _ = try connection.post(
                    path, createNotes(number..<number + 1, zone: "saves"),
                    requestID: areNamed ? "\(operation)/records/modify/\(number)" : nil
                )
                number += 1
            }
            count.wrappingAdd(number, ordering: .relaxed)
        }
        return Double(count.load(ordering: .relaxed)) / Date().timeIntervalSince(start)
    }
}
