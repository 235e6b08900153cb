// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Permissions that an app can ask its user for (ACCT-6).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckcontainer/applicationpermissions>.
// NB: top-level, with the nested name as an alias, as all types of CloudKit here.
public struct CKContainerApplicationPermissions: OptionSet, Sendable {
    public let rawValue: UInt

    /// Creates permissions from raw bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Other users of the app may find the user by address or record ID.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public static var userDiscoverability: CKContainerApplicationPermissions { .init(rawValue: 1) }
}

/// The user's answer to an app that asked for a permission (ACCT-6).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckcontainer/applicationpermissionstatus>.
public enum CKContainerApplicationPermissionStatus: Int, Sendable {
    /// The app has not asked yet.
    case initialState = 0
    /// The answer is not known; an error describes why.
    case couldNotComplete = 1
    /// The user refused.
    case denied = 2
    /// The user agreed.
    case granted = 3
}

extension CKContainer {
    /// Permissions that an app can ask its user for.
    public typealias ApplicationPermissions = CKContainerApplicationPermissions

    /// The user's answer.
    @available(*, deprecated, message: "No longer supported.")
    public typealias ApplicationPermissionStatus = CKContainerApplicationPermissionStatus

    /// Takes a user's answer.
    @available(*, deprecated, message: "No longer supported.")
    public typealias ApplicationPermissionBlock =
        (CKContainerApplicationPermissionStatus, (any Error)?) -> Void

    /// The namespace of older names.
    @available(*, deprecated, message: "Use the names in CKContainer.")
    public enum Application {
        /// Use `CKContainer.ApplicationPermissions`.
        public typealias Permissions = CKContainerApplicationPermissions
        /// Use `CKContainer.ApplicationPermissionStatus`.
        public typealias PermissionStatus = CKContainerApplicationPermissionStatus
        /// Use `CKContainer.ApplicationPermissionBlock`.
        public typealias PermissionBlock =
            (CKContainerApplicationPermissionStatus, (any Error)?) -> Void
    }

    /// Returns how the user answered to a permission, without asking (ACCT-6).
    @available(*, deprecated, message: "No longer supported.")
    @preconcurrency
    public func status(
        forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
        completionHandler:
            @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        permission(applicationPermission, .read, completionHandler)
    }

    /// Returns how the user answered to a permission, without asking (ACCT-6).
    ///
    /// Fails with `notAuthenticated` when no user is signed in.
    @available(*, deprecated, message: "No longer supported.")
    public func applicationPermissionStatus(
        for applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        try await permission(applicationPermission, .read)
    }

    /// Asks the user for a permission (ACCT-6); see ``requestApplicationPermission(_:)``.
    @available(*, deprecated, message: "No longer supported.")
    @preconcurrency
    public func requestApplicationPermission(
        _ applicationPermission: CKContainer.ApplicationPermissions,
        completionHandler:
            @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        permission(applicationPermission, .request, completionHandler)
    }

    /// Asks the user for a permission (ACCT-6).
    ///
    /// The answer is kept on the server, for the user and the container: a user who answered on one
    /// device is not asked again on another. Linux has no dialog to ask the user, so the permission
    /// counts as granted unless it was denied before with `tidebell permission deny`.
    @available(*, deprecated, message: "No longer supported.")
    public func requestApplicationPermission(
        _ applicationPermission: CKContainer.ApplicationPermissions
    ) async throws -> CKContainer.ApplicationPermissionStatus {
        try await permission(applicationPermission, .request)
    }

    private func permission(
        _ permission: CKContainerApplicationPermissions,
        _ action: ModifyPermission.Action,
        _ completionHandler:
            @escaping @Sendable (CKContainerApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        detached {
            do {
                completionHandler(try await self.permission(permission, action), nil)
            } catch {
                completionHandler(.couldNotComplete, error)
            }
        }
    }

    private func permission(
        _ permission: CKContainerApplicationPermissions,
        _ action: ModifyPermission.Action
    ) async throws(CKError) -> CKContainerApplicationPermissionStatus {
        guard permission.rawValue == 1 else {
            throw .local(
                .invalidArguments,
                "There is one permission to ask for, userDiscoverability; "
                    + "\(permission.rawValue) is another."
            )
        }
        let request = ModifyPermission.Request(.userDiscoverability, action)
        let answer = try await connection.send(ModifyPermission.self, request, requestOptions)
        switch answer.value.answer {
        case nil: return .initialState
        case .granted: return .granted
        case .denied: return .denied
        }
    }
}

/// The older name of `CKContainer.ApplicationPermissions`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
// The name is Apple's.
// swift-format-ignore: AlwaysUseLowerCamelCase
public typealias CKContainer_Application_Permissions = CKContainerApplicationPermissions

/// The older name of `CKContainer.ApplicationPermissionStatus`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
// swift-format-ignore: AlwaysUseLowerCamelCase
public typealias CKContainer_Application_PermissionStatus = CKContainerApplicationPermissionStatus

/// The older name of `CKContainer.ApplicationPermissionBlock`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
// swift-format-ignore: AlwaysUseLowerCamelCase
public typealias CKContainer_Application_PermissionBlock =
    (CKContainerApplicationPermissionStatus, (any Error)?) -> Void
