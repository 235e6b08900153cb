// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// What sharing costs: saves below the root of 10,000 records that are shared with nobody, with one
/// participant and with 100, and with as many who are notified of every change; a page of changes
/// that a participant fetches, beside the owner's; and accepting a share, beside asking for one.
///
/// All take turns within each of many short rounds, in an order that changes, so that they meet the same disk
/// and the same neighbours. A run's figure is the median of its rounds, its ratios those of one round each.
struct SharingBenchmark {
    let server: BenchServer
    private let records = 10_000
    private let lists = 100
    private let batch = 400
    private let rounds = 10
    private let savesPerRound = 100
    private let fetchesPerRound = 10
    /// Users who ask for one share and accept another, in each run.
    private let joiners = 20
    /// Before what is measured, so that what was measured last leaves nothing to the pipeline.
    private let pause = Duration.milliseconds(40)
    /// The same for each participant of the zone that was measured last; twice that where they are notified.
    private let pausePerParticipant = Duration.milliseconds(10)

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
        let names = ["alone"] + zones.map(\.name)
        var saves: [String: [Double]] = [:]
        var ratios: [String: [Double]] = [:]
        var pages: [[Double]] = [[], [], []]
        var joining: [[Double]] = [[], [], []]
        let door = try openDoor(connection)
        for run in 0..<repetitions {
            let found = try await measureSaves(in: zones, connection)
            for name in names {
                saves[name, default: []].append(Self.median(found[name] ?? []))
                ratios[name, default: []].append(
                    Self.median(zip(found[name] ?? [], found["alone"] ?? []).map { $0 / $1 }))
            }
            let fetched = try await measurePages(of: participant, connection)
            for index in pages.indices { pages[index].append(fetched[index]) }
            let joined = try await measureJoining(door, run: run, connection)
            for index in joining.indices { joining[index].append(joined[index]) }
        }
        report("a save below 10,000, shared with nobody", saves["alone"] ?? [], unit: "µs")
        for zone in zones {
            report("a save below 10,000, \(zone.title)", saves[zone.name] ?? [], unit: "µs")
            report(
                "a save with \(zone.title) / with nobody", ratios[zone.name] ?? [], unit: "times")
        }
        report("page of 200 changes, the owner", pages[0], unit: "ms")
        report("page of 200 changes, a participant", pages[1], unit: "ms")
        report("a page of a participant / of the owner", pages[2], unit: "times")
        report("asking for a share", joining[0], unit: "µs")
        report("accepting a share, the own database's step included", joining[1], unit: "µs")
        report("accepting a share / asking for one", joining[2], unit: "times")
    }

    // MARK: What is measured

    /// Returns how long a save took in each zone, in µs, round by round; with "alone", which is shared
    /// with nobody.
    private func measureSaves(
        in zones: [SharedZone], _ connection: HTTPConnection
    ) async throws -> [String: [Double]] {
        let zones = [SharedZone(name: "alone", participants: 0, notified: false)] + zones
        var found: [String: [Double]] = [:]
        for round in 0..<rounds {
            // Each comes after another one in turn.
            let stride = 1 + round % (zones.count - 1)
            for index in zones.indices {
                let zone = zones[(round + index * stride) % zones.count]
                let start = Date()
                for number in 0..<savesPerRound {
                    let note = note(UUID().uuidString, number, below: "list-\(number % lists)")
                    _ = try connection.post(
                        server.path("records/modify"), modify(zone.name, [note]))
                }
                found[zone.name, default: []].append(
                    Date().timeIntervalSince(start) * 1e6 / Double(savesPerRound))
                try await Task.sleep(
                    for: pause + pausePerParticipant * zone.participants
                        * (zone.notified ? 2 : 1))
            }
        }
        return found
    }

    /// Returns how long a page takes the owner and a participant, in ms, and the second by the first.
    private func measurePages(
        of participant: Participant, _ connection: HTTPConnection
    ) async throws -> [Double] {
        let owners = (server.path("changes/zone"), #"{"zoneName":"shared-100"}"#)
        let theirs = (
            server.path("changes/zone", scope: "shared", token: participant.token),
            participant.zoneID
        )
        var found: [[Double]] = [[], []]
        for round in 0..<rounds {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                try await Task.sleep(for: pause)
                let (path, zoneID) = index == 0 ? owners : theirs
                found[index].append(try measurePages(path, zoneID, connection))
            }
        }
        return [
            Self.median(found[0]), Self.median(found[1]),
            Self.median(zip(found[1], found[0]).map { $0 / $1 }),
        ]
    }

    private func measurePages(
        _ path: String, _ zoneID: String, _ connection: HTTPConnection
    ) throws -> Double {
        let request = #"{"zones":[{"zoneID":\#(zoneID),"resultsLimit":200}]}"#
        let start = Date()
        for _ in 0..<fetchesPerRound {
            let answer = try connection.post(path, request)
            guard answer.contains(#""moreComing":true"#) else {
                throw ProcessFailure(description: "no page came: \(answer.prefix(200))")
            }
        }
        return Date().timeIntervalSince(start) * 1000 / Double(fetchesPerRound)
    }

    /// Two shares: one that may be asked for, and one that is open.
    private struct Door {
        var asked: String
        var open: String
    }

    private func openDoor(_ connection: HTTPConnection) throws -> Door {
        Door(
            asked: try makeShare(of: "asked", #""denyAccessRequests":false"#, connection),
            open: try makeShare(of: "open", #""publicPermission":"READ_WRITE""#, connection))
    }

    private func makeShare(
        of zone: String, _ setting: String, _ connection: HTTPConnection
    ) throws -> String {
        try server.makeZone(zone)
        let share =
            #"{"recordType":"cloudkit.share","recordName":"share","fields":{},"#
            + #""forRecord":{"recordName":"root"},\#(setting)}"#
        _ = try connection.post(
            server.path("records/modify"), modify(zone, [note("root", 0, below: nil)]))
        let answer = try connection.post(server.path("records/modify"), modify(zone, [share]))
        guard let guid = Self.text(of: "shortGUID", in: answer) else {
            throw ProcessFailure(description: "no share came: \(answer.prefix(300))")
        }
        return guid
    }

    /// Returns how long asking and accepting take users who are new to both shares, in µs, and the second
    /// by the first. Both write the share; only who accepts has a step in their own database, too.
    private func measureJoining(
        _ door: Door, run: Int, _ connection: HTTPConnection
    ) async throws -> [Double] {
        var found: [[Double]] = [[], []]
        for number in 0..<joiners {
            let token = try await server.program.token(["user", "add", "joiner-\(run)-\(number)"])
            // The first request makes the container's user.
            _ = try connection.post(server.path("zones/list", token: token), "{}")
            for index in number % 2 == 0 ? [0, 1] : [1, 0] {
                try await Task.sleep(for: pause)
                let guid = index == 0 ? door.asked : door.open
                let call = index == 0 ? "records/requestAccess" : "records/accept"
                let path = server.path(call, scope: "public", token: token)
                let start = Date()
                let answer = try connection.post(
                    path, #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#)
                found[index].append(Date().timeIntervalSince(start) * 1e6)
                guard !answer.contains("serverErrorCode") else {
                    throw ProcessFailure(description: "\(call): \(answer.prefix(300))")
                }
            }
        }
        return [
            Self.median(found[0]), Self.median(found[1]),
            Self.median(zip(found[1], found[0]).map { $0 / $1 }),
        ]
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
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
