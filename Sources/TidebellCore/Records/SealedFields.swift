// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

// A record with encrypted fields is stored like any other, with two differences: instead of
// each encrypted value stands an empty one that is marked as encrypted, and before all
// fields stands one without a name, whose bytes are the encrypted values. So whoever reads
// stored fields and knows nothing of this sees encrypted fields, and no value of theirs; and
// records that have none are known by their second byte.
extension RecordFields {
    /// The name of the field that holds the encrypted values. Fields of apps have names.
    private static let envelopeName = ""
    private static let envelopeStart = Array(#"{"":{"#.utf8)
    private static let encryptedMark = BytePattern(#""isEncrypted":true"#)

    /// Whether there are encrypted values that must be opened.
    package var isSealed: Bool { json.starts(with: Self.envelopeStart) }

    /// Whether a field may be marked as encrypted; found without parsing.
    var mayHoldEncrypted: Bool { Self.encryptedMark.isFound(in: json) }

    /// Encodes fields for the store; `seal` encrypts the values that are to be encrypted.
    package init(
        sealing fields: [String: Field], _ seal: (_ values: [UInt8]) throws -> [UInt8]
    ) rethrows {
        let encrypted = fields.filter(\.value.isEncrypted)
        var shown = fields.merging(encrypted.mapValues { _ in .hidden }) { $1 }
        shown[Self.envelopeName] = Field(
            .bytes(try seal(RecordFields(encrypted).json)), isEncrypted: true
        )
        self.init(shown)
    }

    /// Returns the fields with the values that `open` decrypts.
    package func opened(_ open: (_ sealed: [UInt8]) throws -> [UInt8]) throws -> RecordFields {
        var fields = try decoded()
        guard case .bytes(let sealed)? = fields.removeValue(forKey: Self.envelopeName)?.value
        else { throw JSONError("the encrypted values of a record are no bytes") }
        let encrypted = try RecordFields(json: try open(sealed)).decoded()
        return RecordFields(fields.merging(encrypted) { $1 })
    }

    /// The fields without encrypted values, those in clear text that older versions stored
    /// neither: for what is kept of changes, where nothing may look at them.
    package func withoutEncryptedValues() throws -> RecordFields {
        if isSealed { return withoutEnvelope() }
        guard mayHoldEncrypted else { return self }
        return RecordFields(try decoded().mapValues { $0.isEncrypted ? .hidden : $0 })
    }

    /// Cuts the first field off, unparsed: its bytes are digits of Base64, so that the first
    /// brace after them ends it.
    func withoutEnvelope() -> RecordFields {
        guard isSealed, let end = json.firstIndex(of: UInt8(ascii: "}")) else { return self }
        let rest = json[json.index(after: end)...].drop { $0 == UInt8(ascii: ",") }
        return RecordFields(json: [UInt8(ascii: "{")] + rest)
    }
}

extension Field {
    /// What stands for an encrypted field where its value may not.
    fileprivate static let hidden = Field(.bytes([]), isEncrypted: true)
}

extension Call {
    /// Returns the fields of a record of a zone with their encrypted values; fields without
    /// any are not even parsed.
    package func opened(
        _ fields: RecordFields, ofRecord name: String, in zone: StoredZone?
    ) throws -> RecordFields {
        guard fields.isSealed, let zone else { return fields }
        return try reportingKey(of: zone) {
            try fieldCipher.opened(fields, ofRecord: name, in: zone)
        }
    }

    /// Returns what `body` makes with the key of a zone; where that cannot be opened, it is
    /// reported by the zone's name.
    func reportingKey<Value>(of zone: StoredZone, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch is UnreadableZoneKey {
            reportDamage(zone.name, nil)
            throw WireError.unreadableKey(of: zone)
        }
    }
}

extension FieldCipher {
    /// Returns sealed fields of a record of a zone with their encrypted values.
    package func opened(
        _ fields: RecordFields, ofRecord name: String, in zone: StoredZone
    ) throws -> RecordFields {
        guard case .wrapped(let key) = zone.fieldKey else { throw WireError.lostKey(of: zone) }
        do {
            return try fields.opened { try open($0, ofRecord: name, in: zone.key, under: key) }
        } catch let error as WireError {
            throw error
        } catch let error as UnreadableZoneKey {
            throw error
        } catch {
            throw WireError(
                .internalError,
                "the encrypted fields of record '\(WireError.shortened(name))' in zone "
                    + "'\(WireError.shortened(zone.name))' cannot be decrypted: they were damaged"
            )
        }
    }
}

extension WireError {
    /// The key of a zone's encrypted fields is there, and cannot be opened.
    static func unreadableKey(of zone: StoredZone) -> WireError {
        WireError(
            .internalError,
            "the key of the encrypted fields of zone '\(WireError.shortened(zone.name))' cannot be "
                + "opened: it was damaged, or is not one of the root key's"
        )
    }

    /// The key of a zone's encrypted fields is gone (TOK-23).
    static func lostKey(of zone: StoredZone) -> WireError {
        zoneNotFound(ZoneID(zoneName: zone.name), deletion: .encryptedDataReset)
    }
}
