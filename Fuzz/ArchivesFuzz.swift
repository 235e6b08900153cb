// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Archived values: bytes are refused, or are a value that is written and read again as the
/// same bytes. The first byte chooses the class and whether the frame is right: without that
/// the checksum would keep nearly everything out.
func fuzzArchives(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let reader = readers[Int(first & 0x7F) % readers.count]
    reader(bytes, first < 0x80)
}

private let readers: [@Sendable ([UInt8], Bool) -> Void] = [
    reader(CKRecord.ArchivedValues.self), reader(CKRecord.SystemFields.self),
    reader(CKRecordZone.Values.self), reader(CKServerChangeToken.Values.self),
    reader(CKNotificationID.Values.self), reader(CKQuery.Values.self),
    reader(CKQuerySubscription.Values.self), reader(CKRecordZoneSubscription.Values.self),
    reader(CKDatabaseSubscription.Values.self), reader(CKLocationSortDescriptor.Values.self),
    reader(CKQueryCursor.Values.self), reader(SyncState.self),
]

private func reader<Value: ArchiveValue & SendableMetatype>(
    _ type: Value.Type
) -> @Sendable ([UInt8], Bool) -> Void {
    { bytes, isFramed in
        let frame = isFramed ? framed(bytes, kind: Value.kind) : bytes
        guard let value = try? ArchiveBlob.value(type, from: frame) else { return }
        let written = ArchiveBlob.bytes(of: value)
        guard let again = try? ArchiveBlob.value(type, from: written) else {
            fatalError("Broken: what \(type) writes it reads")
        }
        let twice = ArchiveBlob.bytes(of: again)
        // Sets and dictionaries have no order; all else must be the same.
        require(twice.count == written.count, "\(type) writes what it read")
    }
}

private func framed(_ payload: [UInt8], kind: ArchiveKind) -> [UInt8] {
    var frame = BlobWriter()
    for byte in ArchiveBlob.magic { frame.write(byte: byte) }
    frame.write(byte: ArchiveBlob.version)
    frame.write(byte: kind.rawValue)
    frame.write(count: payload.count)
    let checked = frame.bytes + payload
    var tail = BlobWriter()
    tail.write(CRC32.checksum(checked))
    return checked + tail.bytes
}
