// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// One-time URLs, and those who ask for access.
extension Simulation {
    /// Sends what changes access; returns whether it was done.
    func sendAccess(_ action: SharingAction, over known: WireRecord?) async throws -> Bool {
        switch action {
        case .link(let number, let permission, let share, let writer):
            return try await save(
                share, ShareChanges(participants: linked(number, permission, in: known)), known,
                writer)
        case .letAsk(let isAskable, let share, let writer):
            return try await save(
                share, ShareChanges(allowsAccessRequests: isAskable), known, writer)
        case .deny(let user, let share, let writer):
            let waiting = known?.shownShare?.accessRequests?.requesters ?? []
            let kept = waiting.filter { $0.userRecordName != people[user].recordName }
            return try await save(share, ShareChanges(requesters: kept), known, writer)
        case .block(let user, let isBlocked, let share, let writer):
            let name = people[user].recordName
            var blocked = known?.shownShare?.accessRequests?.blocked ?? []
            blocked.removeAll { $0.userRecordName == name }
            if isBlocked { blocked.append(UserIdentity(userRecordName: name)) }
            return try await save(share, ShareChanges(blocked: blocked), known, writer)
        case .acceptLink(let number, let share, let isOld, let writer):
            let all = sharing.links[.init(share: share, number: number)] ?? []
            return try await open(
                url: (isOld ? all.dropLast() : all[...]).last ?? "unknown", "accept", writer)
                != nil
        case .ask(let share, let writer):
            let request = SharesRequest(
                shortGUIDs: [ShortGUID(sharing.urls[share] ?? "unknown")])
            let body = try await post("public/records/requestAccess", as: writer, request.write)
            let answer = try JSONReader.read(body) { try RequestShareAccess.Response(from: &$0) }
            return answer.results.allSatisfy { if case .failed = $0 { false } else { true } }
        default: preconditionFailure("\(action) is no change")
        }
    }

    /// The participants of a share after a one-time URL was made, changed, or, for nil, taken back.
    private func linked(
        _ number: Int, _ permission: SharePermission?, in known: WireRecord?
    ) -> [WireParticipant] {
        var wanted = known?.shownShare?.participants ?? []
        let id = Self.participantID(ofLink: number)
        let index = wanted.firstIndex { $0.participantID == id }
        switch (index, permission) {
        case (let index?, let permission?): wanted[index].permission = permission
        case (nil, let permission?):
            var stranger = WireParticipant(
                participantID: id, identity: UserIdentity(userRecordName: nil),
                permission: permission)
            stranger.usesOneTimeURL = true
            wanted.append(stranger)
        case (let index?, nil): wanted.remove(at: index)
        case (nil, nil): break
        }
        return wanted
    }

    static func participantID(ofLink number: Int) -> String { "guest-\(number)" }
}
