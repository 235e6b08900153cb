// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What a person is shown of a share that is open to them (SHARE-18).
package struct ShareInvitation: Sendable, Hashable {
    package var container: ContainerKey
    /// What the owner calls it (SHARE-24); nil without a title.
    package var title: String?
    /// An address of the owner, who permitted to be found by others (ACCT-6); nil otherwise.
    package var ownerAddress: String?
    package var isZoneWide: Bool
    package var permission: SharePermission
    package var status: ParticipantAcceptance
    package var role: ParticipantRole
}

extension ShareInvitation {
    /// The most bytes of a title that are shown.
    private static let titleBytes = 300

    /// Takes what is shown from what is known.
    package init(
        _ metadata: ShareMetadata, in reader: some UserReading & AddressReading
    ) throws {
        container = metadata.container
        isZoneWide = metadata.rootRecordName == nil
        permission = metadata.participantPermission
        status = metadata.participantStatus
        role = metadata.participantRole
        let title = try metadata.share.fields.decoded(only: [ShareNames.title])[ShareNames.title]
        if case .string(let text)? = title?.value, text.contains(where: { !$0.isWhitespace }) {
            self.title = WireError.shortened(text, to: Self.titleBytes)
        }
        ownerAddress = try metadata.ownerIdentity.userRecordName.flatMap {
            try reader.shownAddress(ofUser: $0, in: metadata.container)
        }
    }
}

extension AddressReading where Self: UserReading {
    /// Returns the verified address by which a user may be shown to others, an e-mail address
    /// rather than a phone number; nil for one who did not permit it.
    fileprivate func shownAddress(
        ofUser recordName: String, in container: ContainerKey
    ) throws -> String? {
        guard let user = try user(recordName: recordName, in: container),
            try permission(.userDiscoverability, of: user.id) == .granted
        else { return nil }
        var (mails, phones): ([String], [String]) = ([], [])
        for address in try verifiedAddresses(of: user.account) {
            switch address {
            case .emailAddress(let text): mails.append(text)
            case .phoneNumber(let text): phones.append(text)
            case .userRecordName: break
            }
        }
        return mails.min() ?? phones.min()
    }
}
