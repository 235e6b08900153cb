// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP
import TidebellWire
import HTTPTypes

extension Simulation {
    /// Makes a change through the API; the model takes it over if it is durable,
    /// whether or not the answer arrived.
    ///
    /// - Parameter requestID: The ID under which the server does it once; nil for none.
    @discardableResult
    func change(_ action: Action, as requestID: String? = nil) async throws -> Answer {
        let writes = store.writes
        var next = model
        let expected = next.apply(action)
        let request = request(for: action, after: next)
        var death: MortalStore.Died?
        var sent = SentRequest(
            id: requestID ?? "", action: action,
            target: target("database", request.path, request.writer),
            body: JSONWriter.write(request.body), sentAt: now
        )
        do {
            let body = try await call(.post, sent.target, sent.body, as: requestID)
            let answer = try Answer(body, to: action)
            sent.answer = body
            try demand(answer == expected, "the answer is \(answer), expected \(expected)")
        } catch let error as MortalStore.Died {
            death = error
        }
        if death == nil || store.writes > writes {
            model = next
            sent.expected = expected
        }
        if requestID != nil { requests.append(sent) }
        try await findEntries()
        if let death { throw death }
        return expected
    }

    private func request(
        for action: Action, after next: Model
    ) -> (path: String, writer: Writer, body: (inout JSONWriter) -> Void) {
        switch action {
        case .modify(let writer, let site, let edits, let isAtomic):
            let records = next.records[Home(site, of: writer.user)] ?? [:]
            let request = ModifyRecords.Request(
                zoneID: ZoneID(zoneName: site.zone),
                operations: edits.map { $0.operation(version: records[$0.name]?.version ?? 0) },
                atomic: isAtomic
            )
            return ("\(site.scope)/records/modify", writer, request.write)
        case .createZones(let writer, let names):
            let zones = names.map { ModifyZones.Operation.create(ZoneID(zoneName: $0)) }
            return (
                "private/zones/modify", writer, ModifyZones.Request(operations: zones).write
            )
        case .deleteZones(let writer, let names):
            let zones = names.map { ModifyZones.Operation.delete(ZoneID(zoneName: $0)) }
            return (
                "private/zones/modify", writer, ModifyZones.Request(operations: zones).write
            )
        case .subscribe(let writer, let scope, let trigger, let style, let id):
            let request = ModifySubscriptions.Request(
                operations: [.create(trigger.wire(id, style))]
            )
            return ("\(scope)/subscriptions/modify", writer, request.write)
        case .unsubscribe(let writer, let scope, let id):
            let request = ModifySubscriptions.Request(operations: [.delete(subscriptionID: id)])
            return ("\(scope)/subscriptions/modify", writer, request.write)
        default: preconditionFailure("\(action) is no change")
        }
    }
}

extension Model {
    /// Does what a change does, and returns what the server must answer.
    mutating func apply(_ action: Action) -> Answer {
        switch action {
        case .modify(let writer, let site, let edits, let isAtomic):
            modify(edits, in: site, by: writer, isAtomic: isAtomic)
        case .createZones(let writer, let names): createZones(names, by: writer)
        case .deleteZones(let writer, let names): deleteZones(names, by: writer)
        case .subscribe(let writer, let scope, let trigger, let style, let id):
            subscribe(trigger, style, id: id, in: scope, by: writer)
        case .unsubscribe(let writer, let scope, let id):
            unsubscribe(id: id, in: scope, by: writer)
        default: preconditionFailure("\(action) is no change")
        }
    }
}

extension Answer {
    /// Reads the server's answer to a change.
    init(_ body: [UInt8], to action: Action) throws {
        if let error = try? JSONReader.read(body, WireError.init(from:)) {
            self = .refused(error.code)
            return
        }
        switch action {
        case .modify:
            let response = try JSONReader.read(body) { try ModifyRecords.Response(from: &$0) }
            self = .items(response.records.map(Verdict.init))
        case .createZones, .deleteZones:
            let response = try JSONReader.read(body) { try ZonesResponse(from: &$0) }
            self = .items(response.zones.map(Verdict.init))
        default:
            let response = try JSONReader.read(body) { try SubscriptionsResponse(from: &$0) }
            self = .items(response.subscriptions.map(Verdict.init))
        }
    }
}

extension Verdict {
    init(_ result: RecordResult) {
        switch result {
        case .record: self = .saved
        case .deleted: self = .deleted
        case .failed(_, let error): self = .failed(error.code)
        }
    }

    init(_ result: ZoneResult) {
        switch result {
        case .zone: self = .saved
        case .deleted: self = .deleted
        case .failed(_, let error): self = .failed(error.code)
        }
    }

    init(_ result: SubscriptionResult) {
        switch result {
        case .subscription: self = .saved
        case .deleted: self = .deleted
        case .failed(_, let error): self = .failed(error.code)
        }
    }
}

extension Edit {
    /// The operation that writes the record as the save of this number.
    fileprivate func operation(version: Int) -> ModifyRecords.Operation {
        guard kind != .remove else { return .init(.forceDelete, recordName: name) }
        var fields: [String: Field?] = [
            "version": Field(.int64(Int64(version))), "group": Field(.int64(Int64(group))),
            "tag": Field(.string("group-\(group)")),
        ]
        if let owner {
            fields["owner"] = Field(
                .reference(WireReference(recordName: owner, action: .deleteSelf))
            )
        }
        if let receipt { fields["file"] = Field(.asset(receipt)) }
        return .init(
            kind == .insert ? .create : kind == .update ? .replace : .forceReplace,
            recordName: name, recordType: Names.type(of: name),
            recordChangeTag: known?.changeTag, fields: FieldChanges(fields)
        )
    }
}

extension Trigger {
    /// The subscription as the API takes it.
    fileprivate func wire(_ id: String, _ style: Style) -> WireSubscription {
        var info = WireNotificationInfo()
        if style.isVisual {
            info.alert.body = "Something changed"
        } else if !style.countsBadge {
            info.shouldSendContentAvailable = true
        }
        info.shouldBadge = style.countsBadge
        if style.collapses { info.collapseIDKey = "tag" }
        if kind == .query { info.desiredKeys = ["version"] }
        var subscription = WireSubscription(
            subscriptionID: id, kind: kind, zoneID: zone.map { ZoneID(zoneName: $0) },
            recordType: type, firesOn: firesOn, firesOnce: firesOnce, notificationInfo: info
        )
        subscription.filters = filter.map { [$0.wire] } ?? []
        return subscription
    }
}

extension Filter {
    /// The filter as the API takes it.
    var wire: WireFilter {
        func number(_ group: Int) -> FieldValue { .int64(Int64(group)) }
        let subject = WireFilter.Subject.field("group")
        return switch self {
        case .equals(let group): WireFilter(.equals, subject, number(group))
        case .notEquals(let group): WireFilter(.notEquals, subject, number(group))
        case .atLeast(let group): WireFilter(.greaterThanOrEquals, subject, number(group))
        case .among(let one, let other):
            WireFilter(.in, subject, .list(.int64List, [number(one), number(other)]))
        }
    }
}
