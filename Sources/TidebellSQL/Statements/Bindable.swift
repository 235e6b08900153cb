// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

/// What a value of a statement is.
package enum SQLType: Sendable {
    case number
    case bytes
}

/// What an engine gets for a parameter of a statement.
package enum SQLValue {
    /// NULL, where a value of the type could stand.
    case null(SQLType)
    case number(Int64)
    case text(String)
    case bytes([UInt8])
    /// A text in UTF-8 that is kept as it is.
    case textBytes([UInt8])
    /// Rows that the statement takes like a table.
    case list(SQLList)
}

/// A value that can stand for a `?` of a statement.
package protocol Bindable {
    /// What its values are.
    static var sqlType: SQLType { get }
    /// The value as an engine gets it.
    var sqlValue: SQLValue { get }
}

extension Int64: Bindable {
    package static var sqlType: SQLType { .number }
    package var sqlValue: SQLValue { .number(self) }
}

extension Int: Bindable {
    package static var sqlType: SQLType { .number }
    package var sqlValue: SQLValue { .number(Int64(self)) }
}

extension Bool: Bindable {
    package static var sqlType: SQLType { .number }
    package var sqlValue: SQLValue { .number(self ? 1 : 0) }
}

extension String: Bindable {
    package static var sqlType: SQLType { .bytes }
    package var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: Bindable {
    package static var sqlType: SQLType { .bytes }
    package var sqlValue: SQLValue { .bytes(self) }
}

extension Optional: Bindable where Wrapped: Bindable {
    package static var sqlType: SQLType { Wrapped.sqlType }
    package var sqlValue: SQLValue {
        // Not by a key path, which is made anew each time where its type is generic.
        if let self { self.sqlValue } else { .null(Self.sqlType) }
    }
}

/// A JSON text, as it is stored.
struct JSONText: Bindable {
    /// The text in UTF-8.
    let bytes: [UInt8]

    static var sqlType: SQLType { .bytes }
    var sqlValue: SQLValue { .textBytes(bytes) }
}

extension Bindable where Self: RawRepresentable, RawValue: Bindable {
    package static var sqlType: SQLType { RawValue.sqlType }
    package var sqlValue: SQLValue { rawValue.sqlValue }
}

extension AccountID: Bindable {}
extension ApplicationPermission: Bindable {}
extension AssetContent: Bindable {}
extension CloudEnvironment: Bindable {}
extension CollapseID: Bindable {}
extension DatabaseID: Bindable {}
extension DatabaseScope: Bindable {}
extension Delivery.Route: Bindable {}
extension DeviceKey: Bindable {}
extension ErasedKind: Bindable {}
extension FieldIndexID: Bindable {}
extension FieldIndexKey: Bindable {}
extension FieldType: Bindable {}
extension Incarnation: Bindable {}
extension Instant: Bindable {}
extension ManagementTask: Bindable {}
extension NotificationSequence: Bindable {}
extension PermissionAnswer: Bindable {}
extension Position: Bindable {}
extension RemovedAccount.Erasure: Bindable {}
extension SessionID: Bindable {}
extension SharePermission: Bindable {}
extension StoredFieldIndex.State: Bindable {}
extension StoredReference.Kind: Bindable {}
extension SubscriptionSerial: Bindable {}
extension StoredWebToken.Origin: Bindable {}
extension SubscriptionTerm: Bindable {}
extension UserID: Bindable {}
extension WebhookID: Bindable {}
extension WireSubscription.Kind: Bindable {}
extension ZoneDeletionReason: Bindable {}
extension ZoneKey: Bindable {}
extension ZoneSharing: Bindable {}
