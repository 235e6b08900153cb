// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A device that fetches the zone's changes page by page, all through the kills.
final class FeedReader: Sendable {
    private struct State {
        var token: String?
        var entries: [String: Ledger.Entry] = [:]
        var pages = 0
        /// Every change that came, by name and tag; a deletion has none.
        var seen: Set<[String]> = []
        var repeated: [String] = []
    }

    private let device: WireDevice
    private let limit: Int
    private let state: Mutex<State>

    /// Creates a reader that begins after a token, with so many changes a page.
    init(device: WireDevice, limit: Int, token: String? = nil) {
        self.device = device
        self.limit = limit
        state = Mutex(State(token: token))
    }

    /// The zone as it was put together from the pages.
    var entries: [String: Ledger.Entry] { state.withLock(\.entries) }
    var token: String? { state.withLock(\.token) }
    var pages: Int { state.withLock(\.pages) }
    /// The names of which one change came twice, although the token of the first page was taken.
    var repeated: [String] { state.withLock(\.repeated) }

    /// Fetches until the task is cancelled.
    func follow() async throws {
        while !Task.isCancelled {
            do {
                if try await !fetchPage() { try await Task.sleep(for: .milliseconds(5)) }
            } catch is WireDevice.Unanswered {
                try? await Task.sleep(for: .milliseconds(5))
            } catch is CancellationError {
                return
            }
        }
    }

    /// Fetches until there is no more.
    func catchUp() async throws {
        while try await fetchPage() {}
    }

    /// Fetches a page; false when there is no more.
    private func fetchPage() async throws -> Bool {
        let request = WireChanges(
            zones: [.init(syncToken: state.withLock(\.token), resultsLimit: limit)]
        )
        let answer: WireChangesAnswer = try await device.post("private/changes/zone", request)
        guard let page = answer.zones.first else { return false }
        state.withLock { state in
            state.token = page.syncToken
            state.pages += 1
            for record in page.records {
                guard let name = record.recordName else { continue }
                let change = [name, record.deleted == true ? "" : record.recordChangeTag ?? ""]
                if !state.seen.insert(change).inserted { state.repeated.append(name) }
                state.entries[name] =
                    record.deleted == true
                    ? nil
                    : Ledger.Entry(tag: record.recordChangeTag ?? "", number: record.number ?? 0)
            }
        }
        return page.moreComing
    }
}
