// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKFetchRecordZoneChangesOperation {
    /// From where and how the changes of one zone are fetched.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// From where and how the changes of one zone are fetched.
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesOptions
}

/// From where and how the changes of one zone are fetched.
/// Known as `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchrecordzonechangesoperation/zoneconfiguration>.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
    @unchecked Sendable
{
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// Creates a configuration that fetches the complete state.
    public override init() {
        state = Locked(Values())
        super.init()
    }

    /// Creates a configuration; with nil, the server decides the limit, and all fields are fetched.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil,
        resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init(
            Values(
                previousServerChangeToken: previousServerChangeToken,
                resultsLimit: resultsLimit ?? 0,
                desiredKeys: desiredKeys
            )
        )
    }

    init(_ values: Values) {
        state = Locked(values)
        super.init()
    }

    /// Reads a configuration from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        state = Locked(values)
        super.init()
    }

    /// Always true: configurations support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the configuration to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The token of the last fetch of the zone; nil fetches the complete state (TOK-6).
    open var previousServerChangeToken: CKServerChangeToken? {
        get { values.previousServerChangeToken }
        set { state.withLock { $0.previousServerChangeToken = newValue } }
    }

    /// The maximum number of records per request; with 0, the default, the server decides (TOK-12).
    open var resultsLimit: Int {
        get { values.resultsLimit }
        set { state.withLock { $0.resultsLimit = newValue } }
    }

    /// The fields to fetch: nil fetches all fields, an empty array only the system fields (TOK-13).
    open var desiredKeys: [CKRecord.FieldKey]? {
        get { values.desiredKeys }
        set { state.withLock { $0.desiredKeys = newValue } }
    }

    /// Returns a configuration with the same properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(values)
    }

    /// The properties.
    var values: Values { state.current }
}

/// The old form of ``CKFetchRecordZoneChangesConfiguration``.
/// Known as `CKFetchRecordZoneChangesOperation.ZoneOptions`.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
open class CKFetchRecordZoneChangesOptions: NSObject, NSSecureCoding, NSCopying {
    private let state: Locked<CKFetchRecordZoneChangesConfiguration.Values>

    /// Creates options that fetch the complete state.
    public override init() {
        state = Locked(CKFetchRecordZoneChangesConfiguration.Values())
        super.init()
    }

    init(_ values: CKFetchRecordZoneChangesConfiguration.Values) {
        state = Locked(values)
        super.init()
    }

    /// Reads options from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        typealias Values = CKFetchRecordZoneChangesConfiguration.Values
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        state = Locked(values)
        super.init()
    }

    /// Always true: options support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the options to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The token of the last fetch of the zone; nil fetches the complete state.
    open var previousServerChangeToken: CKServerChangeToken? {
        get { values.previousServerChangeToken }
        set { state.withLock { $0.previousServerChangeToken = newValue } }
    }

    /// The maximum number of records per request; with 0, the default, the server decides.
    open var resultsLimit: Int {
        get { values.resultsLimit }
        set { state.withLock { $0.resultsLimit = newValue } }
    }

    /// The fields to fetch: nil fetches all fields, an empty array only the system fields.
    open var desiredKeys: [String]? {
        get { values.desiredKeys }
        set { state.withLock { $0.desiredKeys = newValue } }
    }

    /// Returns options with the same properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesOptions(values)
    }

    /// The properties.
    var values: CKFetchRecordZoneChangesConfiguration.Values { state.current }
}

extension CKFetchRecordZoneChangesConfiguration {
    /// The properties, as an archive keeps them.
    struct Values: Sendable, ArchiveValue {
        var previousServerChangeToken: CKServerChangeToken?
        var resultsLimit = 0
        var desiredKeys: [CKRecord.FieldKey]?

        static var kind: ArchiveKind { .zoneConfiguration }

        init(
            previousServerChangeToken: CKServerChangeToken? = nil,
            resultsLimit: Int = 0,
            desiredKeys: [CKRecord.FieldKey]? = nil
        ) {
            self.previousServerChangeToken = previousServerChangeToken
            self.resultsLimit = resultsLimit
            self.desiredKeys = desiredKeys
        }

        init(from reader: inout BlobReader) throws(BlobError) {
            previousServerChangeToken = try reader.optional { reader throws(BlobError) in
                CKServerChangeToken(data: try reader.data())
            }
            resultsLimit = Int(clamping: try reader.int64())
            desiredKeys = try reader.optionalStrings()
        }

        func write(to writer: inout BlobWriter) {
            writer.write(previousServerChangeToken) { $0.write($1.data) }
            writer.write(Int64(resultsLimit))
            writer.write(desiredKeys) { $0.write($1) }
        }
    }
}
