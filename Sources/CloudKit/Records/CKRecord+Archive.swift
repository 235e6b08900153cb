// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation

extension CKRecord {
    /// The archived state of a record with all its values.
    struct ArchivedValues: ArchiveValue {
        /// Type and ID.
        var identity: Identity

        /// Everything else.
        var state: State

        static var kind: ArchiveKind { .record }
    }

    /// The archived state of a record without its values (REC-9).
    struct SystemFields: ArchiveValue {
        /// Type and ID.
        var identity: Identity

        /// What the server gave; the fields of it are not archived.
        var state: State

        static var kind: ArchiveKind { .recordSystemFields }
    }
}

extension CKRecord.ArchivedValues {
    /// Reads either form of archive, or one of Apple's systems; nil when it is damaged.
    init?(coder: NSCoder) {
        if let values = coder.decodeArchiveBlob(CKRecord.ArchivedValues.self) {
            self = values
        } else if let system = coder.decodeArchiveBlob(CKRecord.SystemFields.self) {
            self.init(identity: system.identity, state: system.state)
        } else if let values = AppleRecordArchive.values(from: coder) {
            self = values
        } else {
            return nil
        }
    }

    init(from reader: inout BlobReader) throws(BlobError) {
        let system = try CKRecord.SystemFields(from: &reader)
        identity = system.identity
        state = system.state
        state.plain = try reader.fields()
        state.encrypted = try reader.fields()
        state.isParentChanged = try reader.bool()
    }

    func write(to writer: inout BlobWriter) {
        CKRecord.SystemFields(identity: identity, state: state).write(to: &writer)
        writer.write(state.plain)
        writer.write(state.encrypted)
        writer.write(state.isParentChanged)
    }
}

extension CKRecord.SystemFields {
    init(from reader: inout BlobReader) throws(BlobError) {
        identity = CKRecord.Identity(
            recordType: try reader.string(),
            recordID: try reader.recordID()
        )
        state = CKRecord.State()
        state.server.recordChangeTag = try reader.optionalString()
        state.server.creationDate = try reader.optionalDate()
        state.server.creatorUserRecordID = try reader.optionalRecordID()
        state.server.modificationDate = try reader.optionalDate()
        state.server.lastModifiedUserRecordID = try reader.optionalRecordID()
        state.parent = try reader.optionalReference()
        state.share = try reader.optionalReference()
    }

    func write(to writer: inout BlobWriter) {
        writer.write(identity.recordType)
        writer.write(identity.recordID)
        writer.write(state.server.recordChangeTag)
        writer.write(state.server.creationDate) { $0.write($1) }
        writer.write(state.server.creatorUserRecordID) { $0.write($1) }
        writer.write(state.server.modificationDate) { $0.write($1) }
        writer.write(state.server.lastModifiedUserRecordID) { $0.write($1) }
        writer.write(state.parent) { $0.write($1) }
        writer.write(state.share) { $0.write($1) }
    }
}

extension BlobReader {
    /// Reads a time that may be missing.
    mutating func optionalDate() throws(BlobError) -> Date? {
        try optional { reader throws(BlobError) in try reader.date() }
    }

    /// Reads the ID of a record that may be missing.
    mutating func optionalRecordID() throws(BlobError) -> CKRecordID? {
        try optional { reader throws(BlobError) in try reader.recordID() }
    }

    /// Reads the ID of a zone that may be missing.
    mutating func optionalZoneID() throws(BlobError) -> CKRecordZoneID? {
        try optional { reader throws(BlobError) in try reader.zoneID() }
    }

    /// Reads a reference that may be missing.
    mutating func optionalReference() throws(BlobError) -> CKReference? {
        try optional { reader throws(BlobError) in try reader.reference() }
    }

    /// Reads fields and which of them changed.
    mutating func fields() throws(BlobError) -> CKRecord.Fields {
        var fields = CKRecord.Fields()
        for _ in 0..<(try count()) {
            let key = try string()
            fields.values[key] = try fieldValue()
        }
        fields.changedKeys = Set(try strings())
        return fields
    }

    /// Reads the value of a field.
    mutating func fieldValue() throws(BlobError) -> CKRecord.FieldValue {
        let type = try fieldType()
        guard type == .list else { return try scalar(of: type) }
        var elements: [CKRecord.FieldValue] = []
        for _ in 0..<(try count()) {
            let type = try fieldType()
            guard type != .list else { throw .badValue }
            elements.append(try scalar(of: type))
        }
        return .list(elements)
    }

    private mutating func fieldType() throws(BlobError) -> CKRecord.FieldValue.FieldType {
        guard let type = CKRecord.FieldValue.FieldType(rawValue: try byte()) else {
            throw .badValue
        }
        return type
    }

    private mutating func scalar(
        of type: CKRecord.FieldValue.FieldType
    ) throws(BlobError) -> CKRecord.FieldValue {
        switch type {
        case .string: return .string(try string())
        case .int64: return .int64(try int64())
        case .double: return .double(try double())
        case .date: return .date(try date())
        case .bytes: return .bytes(try data())
        case .location: return .location(try location())
        case .reference: return .reference(try reference())
        case .asset: return .asset(try asset())
        case .list: throw .badValue
        }
    }
}

extension BlobWriter {
    /// Writes fields and which of them changed.
    mutating func write(_ fields: CKRecord.Fields) {
        write(count: fields.values.count)
        for (key, value) in fields.values.sorted(by: { $0.key < $1.key }) {
            write(key)
            write(value)
        }
        write(fields.changedKeys.sorted())
    }

    /// Writes the value of a field.
    mutating func write(_ value: CKRecord.FieldValue) {
        write(byte: value.type.rawValue)
        switch value {
        case .string(let text): write(text)
        case .int64(let number): write(number)
        case .double(let number): write(number)
        case .date(let date): write(date)
        case .bytes(let data): write(data)
        case .location(let location): write(location)
        case .reference(let reference): write(reference)
        case .asset(let asset): write(asset)
        case .list(let elements):
            write(count: elements.count)
            for element in elements { write(element) }
        }
    }
}
