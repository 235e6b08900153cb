// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

extension World {
    /// The explanation of what a query asks for.
    func explained(
        _ ask: (inout PushExplanation.Query) -> Void = { _ in }
    ) async throws -> PushExplanation {
        var query = PushExplanation.Query()
        ask(&query)
        return try await store.read { [query] in try PushExplanation.explain(query, in: $0) }
    }

    /// Which of the changes that are kept an explanation has, counted from the oldest.
    func numbers(of explanation: PushExplanation) async throws -> [Int] {
        let kept = try await store.read { try $0.keptChanges(KeptChangeQuery(), limit: 100) }
        let oldestFirst = kept.reversed().map(\.entry.id)
        return explanation.changes.map { change in
            1 + (oldestFirst.firstIndex(of: change.id) ?? -1)
        }
    }

    /// The lines of the explanation from its first subscription on, with `ID` for
    /// notification IDs.
    func lines(
        _ ask: (inout PushExplanation.Query) -> Void = { _ in }
    ) async throws -> [String] {
        let all = try await text(ask).split(separator: "\n").map(String.init)
        return Array(all.drop { !$0.hasPrefix("  ") })
    }

    /// The text of the explanation, with `ID` for notification IDs and `N` for
    /// sizes.
    func text(
        _ ask: (inout PushExplanation.Query) -> Void = { _ in }
    ) async throws -> String {
        try await explained(ask).text.replacing(
            /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "ID"
        ).replacing(/\d+ bytes/, with: "N bytes")
    }

    /// Notes what a route did with the oldest notification of a log, milliseconds after noon.
    func deliver(
        to person: Person, on client: String?, _ answer: String,
        by route: Delivery.Route = .stream, after milliseconds: Int64
    ) async throws {
        let oldest = try #require(try await log(of: person).first)
        let delivery = Delivery(
            notification: oldest.sequence, user: person.user.id,
            clientID: client, route: route,
            at: Instant(rawValue: World.noon.rawValue + milliseconds), answer: answer
        )
        try await store.write(.everything) { try $0.appendDeliveries([delivery]) }
    }
}
