// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// What sharing costs: saves below the root of 10,000 records that are shared with nobody, with one
/// participant and with 100, and with as many who are notified of every change; and a page of changes
/// that a participant fetches, beside the owner's.
///
/// All take turns, so that they meet the same disk; the ratios are of one turn each.
struct SharingBenchmark {
    let server: BenchServer
    private let records = 10_000
    private let lists = 100
    private let batch = 400
    private let seconds = 2.0
    private let fetches = 100

    /// A zone whose records are shared.
    private struct SharedZone {
        var name: String
        var participants: Int
        /// Whether participants have a subscription to their shared databases.
        var notified: Bool

        var title: String {
            "\(participants) participant\(participants == 1 ? "" : "s")\(notified ? ", notified" : "")"
        }
    }

    /// A participant, and the zone as they know it.
    private struct Participant {
        var token: String
        var zoneID: String
    }

    func run() async throws {
        let connection = try HTTPConnection(port: server.program.port)
        let zones = [1, 100].flatMap { count in
            [false, true].map { notified in
                SharedZone(
                    name: "\(notified ? "notified" : "shared")-\(count)", participants: count,
                    notified: notified)
            }
        }
        for zone in ["alone"] + zones.map(\.name) { try fill(zone, connection) }
        var participants: [String: [Participant]] = [:]
        for zone in zones { participants[zone.name] = try await share(zone, connection) }
        guard let participant = participants["shared-100"]?.first else { return }
        var saves: [String: [Double]] = [:]
        var pages: [String: [Double]] = [:]
        for _ in 0..<repetitions {
            for zone in ["alone"] + zones.map(\.name) {
                saves[zone, default: []].append(try measureSaves(in: zone, connection))
            }
            pages["owner", default: []].append(
                try measurePages(
                    server.path("changes/zone"), #"{"zoneName":"shared-100"}"#, connection))
            pages["participant", default: []].append(
                try measurePages(
                    server.path("changes/zone", scope: "shared", token: participant.token),
                    participant.zoneID, connection))
        }
        let alone = saves["alone"] ?? []
        report("saves below 10,000, shared with nobody", alone, unit: "per s")
        for zone in zones {
            let shared = saves[zone.name] ?? []
            report("saves below 10,000, \(zone.title)", shared, unit: "per s")
            report(
                "a save with \(zone.title) / with nobody", zip(alone, shared).map { $0 / $1 },
                unit: "times")
        }
        let owner = pages["owner"] ?? []
        let other = pages["participant"] ?? []
        report("page of 200 changes, the owner", owner, unit: "ms")
        report("page of 200 changes, a participant", other, unit: "ms")
        report(
            "a page of a participant / of the owner", zip(other, owner).map { $0 / $1 },
            unit: "times")
    }

    // MARK: What is measured

    private func measureSaves(in zone: String, _ connection: HTTPConnection) throws -> Double {
        let start = Date()
        var count = 0
        while Date().timeIntervalSince(start) < seconds {
            let note = note(UUID().uuidString, count, below: "list-\(count % lists)")
            _ = try connection.post(server.path("records/modify"), modify(zone, [note]))
            count += 1
        }
        return Double(count) / Date().timeIntervalSince(start)
    }

    private func measurePages(
        _ path: String, _ zoneID: String, _ connection: HTTPConnection
    ) throws -> Double {
        let request = #"{"zones":[{"zoneID":\#(zoneID),"resultsLimit":200}]}"#
        let start = Date()
        for _ in 0..<fetches {
            let answer = try connection.post(path, request)
            guard answer.contains(#""moreComing":true"#) else {
                throw ProcessFailure(description: "no page came: \(answer.prefix(200))")
            }
        }
        return Date().timeIntervalSince(start) * 1000 / Double(fetches)
    }

    // MARK: What is there

    private func fill(_ zone: String, _ connection: HTTPConnection) throws {
        try server.makeZone(zone)
        var notes = [note("root", 0, below: nil)]
        notes += (0..<lists).map { note("list-\($0)", $0, below: "root") }
        notes += (notes.count..<records).map { note("note-\($0)", $0, below: "list-\($0 % lists)") }
        for start in stride(from: 0, to: notes.count, by: batch) {
            let end = min(start + batch, notes.count)
            _ = try connection.post(
                server.path("records/modify"), modify(zone, Array(notes[start..<end])))
        }
    }

    /// Shares the records of a zone with users who accept, and waits until a participant has all.
    private func share(
        _ zone: SharedZone, _ connection: HTTPConnection
    ) async throws -> [Participant] {
        let share =
            #"{"recordType":"cloudkit.share","recordName":"share","fields":{},"#
            + #""forRecord":{"recordName":"root"},"publicPermission":"READ_WRITE"}"#
        let answer = try connection.post(server.path("records/modify"), modify(zone.name, [share]))
        guard let guid = Self.text(of: "shortGUID", in: answer) else {
            throw ProcessFailure(description: "no share came: \(answer.prefix(300))")
        }
        var participants: [Participant] = []
        for number in 0..<zone.participants {
            let token = try await server.program.token(["user", "add", "\(zone.name)-\(number)"])
            let accepted = try connection.post(
                server.path("records/accept", scope: "public", token: token),
                #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
            guard let owner = Self.text(of: "ownerRecordName", in: accepted) else {
                throw ProcessFailure(description: "not accepted: \(accepted.prefix(300))")
            }
            participants.append(
                Participant(
                    token: token,
                    zoneID: #"{"zoneName":"\#(zone.name)","ownerRecordName":"\#(owner)"}"#))
            if zone.notified { try subscribe(token, connection) }
        }
        guard let participant = participants.first else { return [] }
        let path = server.path("records/lookup", scope: "shared", token: participant.token)
        // They follow step by step, in no order that anybody promises.
        for number in (lists + 1)..<records {
            let lookup =
                #"{"zoneID":\#(participant.zoneID),"records":[{"recordName":"note-\#(number)"}]}"#
            while try connection.post(path, lookup).contains("NOT_FOUND") {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        return participants
    }

    /// Has a participant be notified of whatever changes in their shared database.
    private func subscribe(_ token: String, _ connection: HTTPConnection) throws {
        let answer = try connection.post(
            server.path("subscriptions/modify", scope: "shared", token: token),
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"shared","#
                + #""subscriptionType":"database","#
                + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#)
        guard !answer.contains("serverErrorCode") else {
            throw ProcessFailure(description: "no subscription: \(answer.prefix(300))")
        }
    }

    private func note(_ name: String, _ number: Int, below parent: String?) -> String {
        let parent = parent.map { #","parent":{"recordName":"\#($0)"}"# } ?? ""
        return #"{"recordType":"Note","recordName":"\#(name)","fields":\#(noteFields(number))"#
            + "\(parent)}"
    }

    private func modify(_ zone: String, _ records: [String]) -> String {
        let operations = records.map { #"{"operationType":"create","record":\#($0)}"# }
        return
            #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations.joined(separator: ","))]}"#
    }

    private static func text(of member: String, in answer: String) -> String? {
        guard let key = answer.range(of: "\"\(member)\":\"") else { return nil }
        return answer[key.upperBound...].prefix { $0 != "\"" }.description
    }
}
