// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a page of the system lets the user choose when they share something.
///
/// Linux has no such page: the options are kept, and archived, for code that is shared with
/// other systems.
/// See <https://developer.apple.com/documentation/cloudkit/ckallowedsharingoptions>.
open class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// Creates options: participants may do what one set of them says, and the share is open to
    /// whom the other says.
    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        state = Locked(
            Values(
                permissions: allowedParticipantPermissionOptions,
                access: allowedParticipantAccessOptions)
        )
        super.init()
    }

    private init(_ values: Values) {
        state = Locked(values)
        super.init()
    }

    /// Reads options from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        state = Locked(values)
        super.init()
    }

    /// True: options may stand in archives that require secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the options to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(state.current)
    }

    /// What participants may be allowed to do.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { state.current.permissions }
        set { state.withLock { $0.permissions = newValue } }
    }

    /// To whom the share may be open.
    open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
        get { state.current.access }
        set { state.withLock { $0.access = newValue } }
    }

    /// Whether participants may be allowed to invite others; false unless it is set.
    open var allowsParticipantsToInviteOthers: Bool {
        get { state.current.allowsInviting }
        set { state.withLock { $0.allowsInviting = newValue } }
    }

    /// Whether others may be allowed to ask for access; false unless it is set.
    open var allowsAccessRequests: Bool {
        get { state.current.allowsAccessRequests }
        set { state.withLock { $0.allowsAccessRequests = newValue } }
    }

    /// Options by which everything can be chosen that participants may do, and whom the share is
    /// open to; each time others, which may be changed.
    open class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
    }

    /// Returns the same options.
    open func copy(with zone: NSZone? = nil) -> Any { CKAllowedSharingOptions(state.current) }

    /// The options, for logs and debuggers.
    open override var description: String {
        let values = state.current
        return "<CKAllowedSharingOptions: permissions=\(values.permissions.rawValue), "
            + "access=\(values.access.rawValue)>"
    }
}

/// To whom the user can open a share.
///
/// See <https://developer.apple.com/documentation/cloudkit/cksharingparticipantaccessoption>.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options of bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Whoever has the URL.
    public static var anyoneWithLink: CKSharingParticipantAccessOption { .init(rawValue: 1) }
    /// Those who are invited.
    public static var specifiedRecipientsOnly: CKSharingParticipantAccessOption {
        .init(rawValue: 2)
    }
    /// Either.
    public static var any: CKSharingParticipantAccessOption { .init(rawValue: 3) }
}

/// What the user can let participants do.
///
/// See <https://developer.apple.com/documentation/cloudkit/cksharingparticipantpermissionoption>.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options of bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Reading.
    public static var readOnly: CKSharingParticipantPermissionOption { .init(rawValue: 1) }
    /// Reading and writing.
    public static var readWrite: CKSharingParticipantPermissionOption { .init(rawValue: 2) }
    /// Either.
    public static var any: CKSharingParticipantPermissionOption { .init(rawValue: 3) }
}

extension CKAllowedSharingOptions {
    /// The archived state of options.
    struct Values: Sendable, ArchiveValue {
        var permissions: CKSharingParticipantPermissionOption
        var access: CKSharingParticipantAccessOption
        var allowsInviting = false
        var allowsAccessRequests = false

        static var kind: ArchiveKind { .allowedSharingOptions }
    }
}

extension CKAllowedSharingOptions.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        permissions = .init(rawValue: UInt(try reader.uint32()))
        access = .init(rawValue: UInt(try reader.uint32()))
        allowsInviting = try reader.bool()
        allowsAccessRequests = try reader.bool()
    }

    func write(to writer: inout BlobWriter) {
        writer.write(UInt32(truncatingIfNeeded: permissions.rawValue))
        writer.write(UInt32(truncatingIfNeeded: access.rawValue))
        writer.write(allowsInviting)
        writer.write(allowsAccessRequests)
    }
}
