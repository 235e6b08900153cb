// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellProcesses

/// Connects a device to the story: commands come by standard input, events go
/// out by standard output, one JSON line each.
struct DeviceConsole: Sendable {
    private let device = FeedDevice()

    func run() async {
        do {
            let pushes = PushInbox(device: device)
            // Tidebell's one addition: what UIApplication does on Apple's platforms.
            let registration = try await device.container.registerForRemoteNotifications {
                [device] userInfo in
                await pushes.receive(device.didReceiveRemoteNotification(userInfo))
            }
            Event(kind: .ready).send()
            while let line = readLine() {
                guard let command = Command(line: line) else { continue }
                if command.verb == .quit { break }
                await run(command)
            }
            registration.cancel()
            await registration.waitUntilEnded()
        } catch {
            Event(kind: .failed, text: "\(error)").send()
        }
    }

    private func run(_ command: Command) async {
        let start = Date()
        do {
            let lines = try await perform(command)
            let milliseconds = Date().timeIntervalSince(start) * 1000
            Event(kind: .done, lines: lines, milliseconds: milliseconds).send()
        } catch {
            Event(kind: .failed, text: "\(error)").send()
        }
    }

    private func perform(_ command: Command) async throws -> [String] {
        let words = command.words
        switch command.verb {
        case .subscribe: try await device.subscribe()
        case .zone: try await device.createZone()
        case .save:
            let pairs = zip(words.dropFirst(), words.dropFirst(2)).enumerated()
                .filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            try await device.save(type: words[0], titles: Dictionary(uniqueKeysWithValues: pairs))
        case .change: try await device.change(words[0], title: words[1])
        case .delete: try await device.delete(words[0])
        case .fetch: return [String(try await device.fetchChanges().count)]
        case .state: return await device.lines()
        case .quit: break
        }
        return []
    }
}

/// Handles pushes one after the other, as an app's delegate does.
private actor PushInbox {
    private let device: FeedDevice

    init(device: FeedDevice) {
        self.device = device
    }

    func receive(_ text: String) async {
        Event(kind: .push, text: text).send()
        do {
            let changes = try await device.fetchChanges()
            let lines =
                changes.records.map { "\($0.recordType) \($0.recordID.recordName)" }
                + changes.deletions.map { "deleted \($0.recordName)" }
            Event(kind: .fetched, lines: lines.sorted()).send()
        } catch {
            Event(kind: .failed, text: "\(error)").send()
        }
    }
}

/// What the story orders a device to do.
struct Command {
    enum Verb: String {
        case subscribe, zone, save, change, delete, fetch, state, quit
    }

    var verb: Verb
    var words: [String]

    init?(line: String) {
        let parts = line.split(separator: "\t").map(String.init)
        guard let verb = parts.first.flatMap(Verb.init(rawValue:)) else { return nil }
        self.verb = verb
        words = Array(parts.dropFirst())
    }
}

/// What a device reports to the story.
struct Event: Codable, Sendable {
    enum Kind: String, Codable {
        case ready, done, failed, push, fetched
    }

    var kind: Kind
    var text = ""
    var lines: [String] = []
    var milliseconds = 0.0
    /// Seconds since 1970, to compare with other processes of this machine.
    var time = Date().timeIntervalSince1970

    func send() {
        guard let json = try? JSONEncoder().encode(self) else { return }
        printLine(String(decoding: json, as: UTF8.self))
    }
}
