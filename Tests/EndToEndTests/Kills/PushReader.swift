// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellTransport

/// A device that reads its stream, and opens it again after its last cursor when it ends.
final class PushReader: Sendable {
    private struct State {
        var received = ReceivedPushes()
        var cursor: String?
        var isReady = false
    }

    private let device: WireDevice
    private let ledger: Ledger
    private let state = Mutex(State())

    init(device: WireDevice, ledger: Ledger) {
        self.device = device
        self.ledger = ledger
    }

    /// The client ID of the device.
    var name: String { device.clientID }
    var received: [Ledger.Change: ReceivedPushes.ReceivedChange] {
        state.withLock(\.received.changes)
    }
    /// Every push that came, the repeated ones too.
    var events: Int { state.withLock(\.received.events) }
    /// Whether the stream was open once: from then on nothing may be missed.
    var isReady: Bool { state.withLock(\.isReady) }

    /// Reads until the task is cancelled.
    func read() async {
        while !Task.isCancelled {
            do {
                let stream = try await device.stream(after: state.withLock(\.cursor))
                var text = ""
                for try await chunk in stream.chunks {
                    text += String(decoding: chunk, as: UTF8.self)
                    while let end = text.range(of: "\n\n") {
                        take(String(text[..<end.lowerBound]))
                        text.removeSubrange(..<end.upperBound)
                    }
                }
            } catch {
                // The server is down; the next try finds the next one.
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func take(_ event: String) {
        var fields: [Substring: Substring] = [:]
        for line in event.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { fields[parts[0]] = parts[1].drop { $0 == " " } }
        }
        switch fields["event"] {
        case "ready"?:
            state.withLock { state in
                state.isReady = true
                if state.cursor == nil { state.cursor = fields["id"].map(String.init) }
            }
        case "gap"?: ledger.violation("\(device.clientID) was notified of a gap")
        case nil: takePush(fields)
        default: break
        }
    }

    private func takePush(_ fields: [Substring: Substring]) {
        guard let id = fields["id"], let data = fields["data"] else { return }
        state.withLock { state in
            state.cursor = String(id)
            state.received.take(Data(data.utf8))
        }
    }
}
