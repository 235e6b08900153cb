// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite
import TidebellCore
import TidebellWire

/// A value that can stand for a `?` of a statement.
protocol Bindable {
    /// Binds the value to the parameter with this 1-based index and returns
    /// SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

/// Makes SQLite copy text and blobs while they are bound.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension Int64: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Bool: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }
}

extension String: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                // An empty buffer may have no address, which SQLite takes for NULL.
                guard let start = characters.baseAddress else {
                    return sqlite3_bind_text(statement, index, "", 0, transient)
                }
                return sqlite3_bind_text64(
                    statement, index, start, sqlite3_uint64(utf8.count), transient,
                    UInt8(SQLITE_UTF8))
            }
        }
    }
}

extension [UInt8]: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        guard !isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
        return withUnsafeBufferPointer { bytes in
            sqlite3_bind_blob64(
                statement, index, bytes.baseAddress, sqlite3_uint64(bytes.count), transient)
        }
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .some(let value): value.bind(to: statement, at: index)
        case .none: sqlite3_bind_null(statement, index)
        }
    }
}

/// A JSON text: how a statement takes a set of names, or how a value is stored.
struct JSONText: Bindable {
    /// The text in UTF-8.
    let bytes: [UInt8]

    /// Wraps text that is JSON already.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Writes an array of strings, for `json_each`; ``string(_:)`` reads them.
    init(_ names: Set<String>) {
        bytes = JSONWriter.write(capacity: 2 + 40 * names.count) { writer in
            writer.array(names) { $0.string(Self.escaped($1)) }
        }
    }

    /// The same in an order.
    init(inOrder names: some Sequence<String>) {
        bytes = JSONWriter.write(capacity: 2) { writer in
            writer.array(names) { $0.string(Self.escaped($1)) }
        }
    }

    /// The same of texts that are compared as they are spelled.
    init(_ names: Set<ExactText>) {
        bytes = JSONWriter.write(capacity: 2 + 40 * names.count) { writer in
            writer.array(names) { $0.string(Self.escaped($1.text)) }
        }
    }

    /// Writes an array of numbers, for `json_each`.
    init(_ numbers: [Int64]) {
        bytes = JSONWriter.write(capacity: 2 + 10 * numbers.count) { writer in
            writer.array(numbers) { $0.number($1) }
        }
    }

    /// Writes an array of arrays of numbers, for `json_each`.
    init(_ rows: [[Int64]]) {
        bytes = JSONWriter.write(capacity: 2 + 25 * rows.count) { writer in
            writer.array(rows) { writer, row in writer.array(row) { $0.number($1) } }
        }
    }

    /// Writes an array of arrays of type, term and, where the trigger has one, end, for
    /// `json_each`; ``string(_:)`` reads them.
    init(_ triggers: some Collection<SubscriptionTrigger>) {
        bytes = JSONWriter.write(capacity: 2 + 60 * triggers.count) { writer in
            writer.array(triggers) { writer, trigger in
                let end = trigger.end.map { [$0.rawValue] } ?? []
                writer.array([trigger.recordType, trigger.term.rawValue] + end) {
                    $0.string(Self.escaped($1))
                }
            }
        }
    }

    /// Returns the text without U+0000, at which SQLite ends the strings of JSON: it and the
    /// sign of an escape, U+0001, become U+0001 with a letter.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 1 }) else { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{0}": escaped.append(contentsOf: "\u{1}A".unicodeScalars)
            case "\u{1}": escaped.append(contentsOf: "\u{1}B".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// The SQL that makes the text again of a string of JSON.
    static func string(_ json: String) -> String {
        """
        CASE WHEN instr(\(json), char(1))
            THEN replace(replace(\(json), char(1, 65), char(0)), char(1, 66), char(1))
            ELSE \(json) END
        """
    }

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            sqlite3_bind_text64(
                statement, index, bytes.assumingMemoryBound(to: CChar.self).baseAddress,
                sqlite3_uint64(bytes.count), transient, UInt8(SQLITE_UTF8)
            )
        }
    }
}

extension Bindable where Self: RawRepresentable, RawValue: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        rawValue.bind(to: statement, at: index)
    }
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
