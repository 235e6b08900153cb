// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The options that the system's user interface for sharing offers to the user.
///
/// Linux has no such user interface: the options are only stored and archived, for code that also
/// runs on other systems.
/// See <https://developer.apple.com/documentation/cloudkit/ckallowedsharingoptions>.
open class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// Creates options with the permissions that participants may get, and the users that the share
    /// may be open to.
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

    /// Always true: options support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the options to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(state.current)
    }

    /// The permissions that participants may get.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { state.current.permissions }
        set { state.withLock { $0.permissions = newValue } }
    }

    /// The users that the share may be open to.
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

    /// Options that allow every choice of permissions and access; a new object each time, which may
    /// be changed.
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

/// The users that a share can be open to.
///
/// See <https://developer.apple.com/documentation/cloudkit/cksharingparticipantaccessoption>.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from raw bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Anyone who has the URL.
    public static var anyoneWithLink: CKSharingParticipantAccessOption { .init(rawValue: 1) }
    /// Invited users only.
    public static var specifiedRecipientsOnly: CKSharingParticipantAccessOption {
        .init(rawValue: 2)
    }
    /// Either.
    public static var any: CKSharingParticipantAccessOption { .init(rawValue: 3) }
}

/// The permissions that the user can give to participants.
///
/// See <https://developer.apple.com/documentation/cloudkit/cksharingparticipantpermissionoption>.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from raw bits.
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
