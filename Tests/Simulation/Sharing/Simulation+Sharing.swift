// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellWire

/// What a walk in which zones are shared knows beside the cloud itself.
struct SharingState: Sendable {
    var model: SharingModel
    var devices: [String: SharingDevice] = [:]
    /// The last parts of the URLs of shares, as far as anybody was told.
    var urls: [ShareID: String] = [:]
    /// The last parts of one-time URLs, oldest first.
    var links: [LinkID: [String]] = [:]
    /// The zones in which records still follow what is above them.
    var unsettled: Set<SharedZone> = []
    /// What users looked up last.
    var shown: [Int: [SharedZone: [String: String]]] = [:]
    /// What users fetched from the beginning last, as a device keeps it.
    var fetched: [Int: [SharedZone: SharingDevice.Zone]] = [:]
    /// What proves that the files of notes were uploaded, by the names of these.
    var receipts: [String: WireAsset] = [:]
    /// What files hold, by their checksums.
    var contents: [String: String] = [:]
    /// How far each user's notifications were looked at.
    var heard: [Int: Int64] = [:]
    /// How often users heard of a zone since the outbox was empty.
    var counts: [HeardOf: Int] = [:]
    /// How many notifications there were.
    var notificationCount = 0
    /// How many steps were looked at.
    var steps = 0

    init(users: Int) { model = SharingModel(users: users) }

    /// Becomes what it was at an earlier moment, but for what devices and users know.
    mutating func comeBack(to moment: SharingState) {
        let present = self
        self = moment
        model = present.model
        model.comeBack(to: moment.model)
        devices = present.devices
        contents = present.contents
        notificationCount = present.notificationCount
        steps = present.steps
    }

    /// A one-time URL of a share, by the number of the participant for whom it was made.
    struct LinkID: Hashable {
        var share: ShareID
        var number: Int
    }

    /// Changes of a zone from one client, as a subscription is notified of them.
    struct HeardOf: Hashable {
        var user: Int
        var subscription: String
        var zone: SharedZone
        var origin: String?
    }
}

/// Owners and participants: what they do, and what the server must make of it.
extension Simulation {
    /// Does what somebody does.
    func perform(_ action: SharingAction) async throws {
        switch action {
        case .hear(let client): try await hear(client)
        case .sync(let client, let pages): try await sync(client, pages: pages)
        case .settle(let limit): try await settleHierarchies(limit: limit)
        case .subscribe(let id, let scope, let type, let writer):
            var info = WireNotificationInfo()
            info.shouldSendContentAvailable = true
            let subscription = WireSubscription(
                subscriptionID: id, kind: .database, recordType: type, notificationInfo: info)
            try await modifySubscriptions(.create(subscription), scope, writer)
        case .unsubscribe(let id, let scope, let writer):
            try await modifySubscriptions(.delete(subscriptionID: id), scope, writer)
        default: try await changeShared(action)
        }
    }

    /// Subscribes a user to both databases, as an app does that syncs them.
    func subscribeToAll(of user: Int) async throws {
        for scope in [DatabaseScope.private, .shared] {
            try await perform(.subscribe("all", scope, type: nil, by: Writer(user: user)))
        }
    }

    /// Makes a change; the model takes it over if it is durable.
    private func changeShared(_ action: SharingAction) async throws {
        // Whoever changes something looks at what there is before.
        let action = try await withFiles(action)
        let share = action.share
        // Nobody need have been told of a share whose maker got no answer.
        switch action {
        case .accept(let share, _), .acceptLink(_, let share, _, _), .ask(let share, _):
            try await learnURL(of: share)
        default: break
        }
        let known = try await shareBefore(action)
        let found = try await foundBefore(action)
        let mayWait = try await mayHaveToWait(action)
        // Whether it was done would not show.
        if mayWait { store.fix(nil) }
        // Whether or not the answer arrives, the device has to look what became of it.
        if let client = action.writer?.client {
            sharing.devices[client]?.doubtful.formUnion(action.zone.map { [$0] } ?? [])
        }
        let writes = store.writes
        var next = sharing.model
        let expected = next.apply(action, finding: found)
        var death: MortalStore.Died?
        do {
            let isDone = try await send(action, after: next, over: known)
            if !isDone, expected, mayWait { return }
            try demand(
                isDone == expected,
                "\(action) is \(isDone ? "done" : "refused"), which must be "
                    + (expected ? "done" : "refused")
            )
        } catch let error as MortalStore.Died {
            death = error
        }
        if expected, death == nil || store.writes > writes {
            sharing.model = next
            changeCount += 1
            if case .removeZone = action, let zone = action.zone {
                sharing.urls = sharing.urls.filter { $0.key.zone != zone }
                sharing.links = sharing.links.filter { $0.key.share.zone != zone }
            }
        }
        if let death { throw death }
        if let share { try await learnURL(of: share) }
    }

    /// Sends a change; returns whether it was done.
    private func send(
        _ action: SharingAction, after next: SharingModel, over known: WireRecord?
    ) async throws -> Bool {
        switch action {
        case .makeZone(let name, let writer):
            return try await modifyZones(.create(ZoneID(zoneName: name)), writer)
        case .removeZone(let name, let writer):
            return try await modifyZones(.delete(ZoneID(zoneName: name)), writer)
        case .put(let edits, let zone, let writer):
            let notes = next.zones[zone]?.notes ?? [:]
            let operations = edits.map { edit in
                edit.operation(version: notes[edit.name]?.version ?? 0, sharing.receipts)
            }
            return try await modify(operations, in: zone, writer)
        case .share(let share, let invited, let permission, let writer):
            let changes = ShareChanges(
                root: share.root.map { .init(recordName: $0) },
                publicPermission: permission == .none ? nil : permission,
                participants: invited.map { participant($0) }
            )
            return try await save(share, .create, changes, tag: nil, writer)
        case .set(let user, let invitation, let share, let writer):
            let name = people[user].recordName
            var wanted = known?.shownShare?.participants ?? []
            let index = wanted.firstIndex { $0.identity.userRecordName == name }
            switch (index, invitation) {
            case (let index?, let invitation?):
                wanted[index].permission = invitation.permission
                if wanted[index].role != .publicUser { wanted[index].role = invitation.role }
            case (nil, let invitation?): wanted.append(participant(invitation))
            case (let index?, nil): wanted.remove(at: index)
            case (nil, nil): break
            }
            return try await save(
                share, .update, ShareChanges(participants: wanted), tag: known?.recordChangeTag,
                writer)
        case .open(let permission, let share, let writer):
            return try await save(
                share, .update, ShareChanges(publicPermission: permission),
                tag: known?.recordChangeTag, writer)
        case .stop(let share, let writer):
            return try await modify(
                [.init(.forceDelete, recordName: share.name)], in: share.zone, writer)
        case .accept(let share, let writer):
            return try await open(share, "accept", writer) != nil
        default: return try await sendAccess(action, over: known)
        }
    }

    private func participant(_ invitation: Invitation) -> WireParticipant {
        WireParticipant(
            identity: UserIdentity(userRecordName: people[invitation.user].recordName),
            permission: invitation.permission, role: invitation.role
        )
    }

    // MARK: Requests

    /// The ID of a zone, as who does not own it names it.
    func zoneID(_ zone: SharedZone) -> ZoneID {
        ZoneID(zoneName: zone.name, ownerRecordName: people[zone.owner].recordName)
    }

    private func save(
        _ share: ShareID, _ type: ModifyRecords.OperationType, _ changes: ShareChanges,
        tag: String?, _ writer: Writer
    ) async throws -> Bool {
        try await modify(
            [
                .init(
                    type, recordName: share.name, recordType: ShareNames.recordType,
                    // Who does not see it knows no tag either.
                    recordChangeTag: type == .create ? nil : tag ?? "1", share: changes)
            ], in: share.zone, writer)
    }

    /// Saves a share over what its writer knows of it.
    func save(
        _ share: ShareID, _ changes: ShareChanges, _ known: WireRecord?, _ writer: Writer
    ) async throws -> Bool {
        try await save(share, .update, changes, tag: known?.recordChangeTag, writer)
    }

    private func modify(
        _ operations: [ModifyRecords.Operation], in zone: SharedZone, _ writer: Writer
    ) async throws -> Bool {
        let request = ModifyRecords.Request(zoneID: zoneID(zone), operations: operations)
        let scope = zone.scope(for: writer.user)
        let body = try await post("\(scope)/records/modify", as: writer, request.write)
        guard (try? JSONReader.read(body, WireError.init(from:))) == nil else { return false }
        let results = try JSONReader.read(body) { try ModifyRecords.Response(from: &$0) }.records
        // No refusal shows what its caller may not see, or tells of it.
        let visible = sharing.model.visible(to: writer.user, in: zone)
        let asked = Set(operations.flatMap(\.allNames))
        for case .failed(let name, let error) in results {
            let untold = SharingModel.allNames.filter { visible[$0] == nil && !asked.contains($0) }
            try demand(
                untold.allSatisfy { !error.reason.contains("'\($0)'") },
                "a refusal tells user \(writer.user) of hidden records: \(error.reason)")
            guard let record = error.detail?.serverRecord else { continue }
            try demand(
                visible[name] == look(of: record),
                "a refusal shows user \(writer.user) record '\(name)'"
            )
        }
        return results.allSatisfy { if case .failed = $0 { false } else { true } }
    }

    private func modifyZones(
        _ operation: ModifyZones.Operation, _ writer: Writer
    ) async throws -> Bool {
        let request = ModifyZones.Request(operations: [operation])
        let body = try await post("private/zones/modify", as: writer, request.write)
        let zones = try JSONReader.read(body) { try ZonesResponse(from: &$0) }.zones
        return zones.allSatisfy { if case .failed = $0 { false } else { true } }
    }

    private func modifySubscriptions(
        _ operation: ModifySubscriptions.Operation, _ scope: DatabaseScope, _ writer: Writer
    ) async throws {
        let request = ModifySubscriptions.Request(operations: [operation])
        let body = try await post("\(scope)/subscriptions/modify", as: writer, request.write)
        try demand(
            (try? JSONReader.read(body, WireError.init(from:))) == nil,
            "a request for subscriptions is refused: \(String(decoding: body, as: UTF8.self))")
    }

    /// Asks for a share by its URL; nil where it is closed.
    func open(
        _ share: ShareID, _ endpoint: String, _ writer: Writer
    ) async throws -> ShareMetadata? {
        try await open(url: sharing.urls[share] ?? "unknown", endpoint, writer)
    }

    /// Asks for a share by the last part of any of its URLs; nil where it is closed.
    func open(
        url: String, _ endpoint: String, _ writer: Writer
    ) async throws -> ShareMetadata? {
        let guid = ShortGUID(url, shouldFetchRootRecord: true)
        let request = SharesRequest(shortGUIDs: [guid])
        let body = try await post("public/records/\(endpoint)", as: writer, request.write)
        let results = try JSONReader.read(body) { try SharesResponse(from: &$0) }.results
        guard case .share(let metadata)? = results.first else { return nil }
        return metadata
    }

    /// What the writer knows of the share that they are about to change.
    private func shareBefore(_ action: SharingAction) async throws -> WireRecord? {
        switch action {
        case .set(_, _, let share, let writer), .open(_, let share, let writer),
            .link(_, _, let share, let writer), .letAsk(_, let share, let writer),
            .deny(_, let share, let writer), .block(_, _, let share, let writer):
            try await lookUp([share.name], in: share.zone, as: writer.user)?[share.name]
        default: nil
        }
    }

    /// Has the owner tell everybody the URL, and the one-time URLs.
    private func learnURL(of share: ShareID) async throws {
        let found = try await lookUp([share.name], in: share.zone, as: share.zone.owner)
        guard let shown = found?[share.name]?.shownShare else { return }
        for participant in shown.participants {
            guard let url = participant.oneTimeShortGUID, let id = participant.participantID,
                let number = Int(id.dropFirst(Self.participantID(ofLink: 0).count - 1))
            else { continue }
            let link = SharingState.LinkID(share: share, number: number)
            if sharing.links[link]?.contains(url) != true {
                sharing.links[link, default: []].append(url)
            }
        }
        let url = shown.shortGUID
        let known = sharing.urls.updateValue(url, forKey: share) ?? url
        try demand(known == url, "SHARE-6: \(share) has another URL than before")
    }
}

extension SharingAction {
    /// Who changes something.
    var writer: Writer? {
        switch self {
        case .makeZone(_, let writer), .removeZone(_, let writer), .put(_, _, let writer),
            .share(_, _, _, let writer), .set(_, _, _, let writer), .open(_, _, let writer),
            .stop(_, let writer), .accept(_, let writer), .subscribe(_, _, _, let writer),
            .unsubscribe(_, _, let writer), .link(_, _, _, let writer), .letAsk(_, _, let writer),
            .deny(_, _, let writer), .block(_, _, _, let writer),
            .acceptLink(_, _, _, let writer), .ask(_, let writer):
            writer
        case .hear, .sync, .settle: nil
        }
    }

    /// The share that is changed.
    var share: ShareID? {
        switch self {
        case .share(let share, _, _, _), .set(_, _, let share, _), .open(_, let share, _),
            .stop(let share, _), .accept(let share, _), .link(_, _, let share, _),
            .letAsk(_, let share, _), .deny(_, let share, _), .block(_, _, let share, _),
            .acceptLink(_, let share, _, _), .ask(let share, _):
            share
        default: nil
        }
    }

    /// The zone that is changed.
    var zone: SharedZone? {
        switch self {
        case .makeZone(let name, let writer), .removeZone(let name, let writer):
            SharedZone(owner: writer.user, name: name)
        case .put(_, let zone, _): zone
        default: share?.zone
        }
    }
}

extension NoteEdit {
    /// The operation that writes the note as the save of this number.
    fileprivate func operation(
        version: Int, _ receipts: [String: WireAsset]
    ) -> ModifyRecords.Operation {
        guard !isRemoved else { return .init(.forceDelete, recordName: name) }
        var fields: [String: Field?] = ["version": Field(.int64(Int64(version)))]
        if let owner {
            fields["owner"] = Field(
                .reference(WireReference(recordName: owner, action: .deleteSelf)))
        }
        if let needed {
            fields["needed"] = Field(
                .reference(WireReference(recordName: needed, action: .validate)))
        }
        if let receipt = receipts[name] { fields["file"] = Field(.asset(receipt)) }
        let newParent: String?? =
            switch parent {
            case .asBefore: nil
            case .none: .some(nil)
            case .note(let parent): .some(parent)
            }
        return .init(
            .forceReplace, recordName: name, recordType: Names.type(of: name),
            fields: FieldChanges(fields), parent: newParent
        )
    }
}

extension ModifyRecords.Operation {
    /// The records that the operation names.
    fileprivate var allNames: [String] {
        let references = fields.values.values.compactMap { field -> String? in
            guard case .reference(let reference)?? = field.map({ $0.value }) else { return nil }
            return reference.recordName
        }
        return [recordName, parent ?? nil, share.root?.recordName].compactMap(\.self) + references
    }
}

extension SharingModel {
    /// The names of all records that there can be in a zone, those of shares included.
    static let allNames =
        Names.records
        + (Names.records.map { $0 } as [String?] + [nil]).map {
            ShareID(zone: SharedZone.all[0], root: $0).name
        }
}

extension WireRecord {
    /// The share that the record is.
    var shownShare: WireShare? { if case .share(let share)? = sharing { share } else { nil } }
}
