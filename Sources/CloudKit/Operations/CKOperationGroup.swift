// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// Operations that belong together for the user, such as one sync.
///
/// A group gives its operations a default configuration, and an ID that the server logs. It does
/// not make them atomic (OP-10).
/// See <https://developer.apple.com/documentation/cloudkit/ckoperationgroup>.
open class CKOperationGroup: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: the ID is a constant, the rest is behind a lock.

    /// The amount of data an app expects to move.
    public enum TransferSize: Int, Sendable {
        /// The app does not know.
        case unknown = 0
        /// Less than a megabyte.
        case kilobytes = 1
        /// 1 to 9 megabytes.
        case megabytes = 2
        /// 10 to 99 megabytes.
        case tensOfMegabytes = 3
        /// 100 to 999 megabytes.
        case hundredsOfMegabytes = 4
        /// 1 to 9 gigabytes.
        case gigabytes = 5
        /// 10 to 99 gigabytes.
        case tensOfGigabytes = 6
        /// 100 gigabytes and more.
        case hundredsOfGigabytes = 7
    }

    private let state: Locked<Values>

    /// Creates a group with a new ID.
    public override init() {
        operationGroupID = NewIdentifier.make()
        state = Locked(Values())
        super.init()
    }

    /// Reads a group from an archive; a damaged one gives a new group.
    public required init(coder: NSCoder) {
        let archived = coder.decodeArchiveBlob(Archived.self)
        if archived == nil { coder.failDecoding(of: Self.self) }
        operationGroupID = archived?.operationGroupID ?? NewIdentifier.make()
        state = Locked(archived?.values ?? Values())
        super.init()
    }

    private init(operationGroupID: String, values: Values) {
        self.operationGroupID = operationGroupID
        state = Locked(values)
        super.init()
    }

    /// Always true: groups support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the group to a keyed archive; the container of its configuration is left out.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(
            Archived(operationGroupID: operationGroupID, values: state.current)
        )
    }

    /// The ID of the group.
    public let operationGroupID: String

    /// The configuration for properties that the group's operations do not set themselves (OP-2).
    ///
    /// Never nil; setting nil resets it.
    open var defaultConfiguration: CKOperation.Configuration! {
        get { state.current.defaultConfiguration }
        set {
            let configuration = newValue?.copied() ?? CKOperation.Configuration()
            state.withLock { $0.defaultConfiguration = configuration }
        }
    }

    /// A name for people who read logs.
    open var name: String? {
        get { state.current.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// The expected number of items.
    open var quantity: Int {
        get { state.current.quantity }
        set { state.withLock { $0.quantity = newValue } }
    }

    /// How much the app expects to send.
    open var expectedSendSize: CKOperationGroup.TransferSize {
        get { state.current.expectedSendSize }
        set { state.withLock { $0.expectedSendSize = newValue } }
    }

    /// How much the app expects to receive.
    open var expectedReceiveSize: CKOperationGroup.TransferSize {
        get { state.current.expectedReceiveSize }
        set { state.withLock { $0.expectedReceiveSize = newValue } }
    }

    /// Returns a group with the same ID and properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        var values = state.current
        values.defaultConfiguration = values.defaultConfiguration.copied()
        return CKOperationGroup(operationGroupID: operationGroupID, values: values)
    }
}

extension CKOperationGroup {
    /// Everything about a group that can change.
    struct Values: Sendable {
        var defaultConfiguration = CKOperationConfiguration()
        var name: String?
        var quantity = 0
        var expectedSendSize = TransferSize.unknown
        var expectedReceiveSize = TransferSize.unknown
    }

    /// The archived state of a group.
    struct Archived: ArchiveValue {
        var operationGroupID: String
        var values: Values

        static var kind: ArchiveKind { .operationGroup }

        init(operationGroupID: String, values: Values) {
            self.operationGroupID = operationGroupID
            self.values = values
        }

        init(from reader: inout BlobReader) throws(BlobError) {
            operationGroupID = try reader.string()
            values = Values()
            values.name = try reader.optionalString()
            values.quantity = Int(clamping: try reader.int64())
            values.expectedSendSize = try reader.transferSize()
            values.expectedReceiveSize = try reader.transferSize()
            values.defaultConfiguration = CKOperationConfiguration(
                try CKOperationConfiguration.Values(from: &reader)
            )
        }

        func write(to writer: inout BlobWriter) {
            writer.write(operationGroupID)
            writer.write(values.name)
            writer.write(Int64(values.quantity))
            writer.write(byte: UInt8(values.expectedSendSize.rawValue))
            writer.write(byte: UInt8(values.expectedReceiveSize.rawValue))
            values.defaultConfiguration.values.write(to: &writer)
        }
    }
}

extension BlobReader {
    fileprivate mutating func transferSize() throws(BlobError) -> CKOperationGroup.TransferSize {
        guard let size = CKOperationGroup.TransferSize(rawValue: Int(try byte())) else {
            throw .badValue
        }
        return size
    }
}

extension CKOperationGroup {
    /// Creates the group that bytes stand for; nil when they are damaged.
    convenience init?(archiveBytes: [UInt8]) {
        guard let archived = try? ArchiveBlob.value(Archived.self, from: archiveBytes) else {
            return nil
        }
        self.init(operationGroupID: archived.operationGroupID, values: archived.values)
    }

    /// The group as bytes.
    var archiveBytes: [UInt8] {
        ArchiveBlob.bytes(of: Archived(operationGroupID: operationGroupID, values: state.current))
    }
}

extension CKOperationConfiguration.Values {
    /// Reads what was set.
    init(from reader: inout BlobReader) throws(BlobError) {
        let quality = try reader.optional { reader throws(BlobError) in try reader.int64() }
        qualityOfService = quality.flatMap { QualityOfService(rawValue: Int(clamping: $0)) }
        allowsCellularAccess = try reader.optional { reader throws(BlobError) in
            try reader.bool()
        }
        isLongLived = try reader.optional { reader throws(BlobError) in try reader.bool() }
        timeoutIntervalForRequest = try reader.optional { reader throws(BlobError) in
            try reader.double()
        }
        timeoutIntervalForResource = try reader.optional { reader throws(BlobError) in
            try reader.double()
        }
    }

    /// Writes what was set, without the container.
    func write(to writer: inout BlobWriter) {
        writer.write(qualityOfService) { $0.write(Int64($1.rawValue)) }
        writer.write(allowsCellularAccess) { $0.write($1) }
        writer.write(isLongLived) { $0.write($1) }
        writer.write(timeoutIntervalForRequest) { $0.write($1) }
        writer.write(timeoutIntervalForResource) { $0.write($1) }
    }
}
