// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A server's answer to a fetch of changes: refused with a reason, or records whose values
/// can be read, archived and sent again.
func fuzzAnswers(_ input: [UInt8]) {
    let read = try? JSONReader.read(input) { try FetchZoneChanges.Response(from: &$0) }
    for case .changes(let page) in read?.zones ?? [] {
        for case .record(let wire) in page.records {
            guard let record = try? CKRecord.received(wire, in: fuzzDatabase) else { continue }
            check(record)
        }
    }
}

private func check(_ record: CKRecord) {
    for key in record.allKeys() { _ = "\(String(describing: record[key] as Any?))" }
    let sent = SentRecord(record, .allKeys)
    _ = try? ModifyRecords.Operation(saving: record, sent, .allKeys, in: fuzzDatabase)
}

/// A private database whose server is never asked.
let fuzzDatabase = DatabaseConnection(
    container: ContainerConnection(
        identifier: "iCloud.org.example.fuzz",
        session: DeviceSession(
            configuration: DeviceConfiguration(
                server: URL(fileURLWithPath: "/"), apiToken: "api", webAuthToken: "web",
                deviceID: "fuzz"),
            transport: HTTPTransport(server: URL(fileURLWithPath: "/")))),
    scope: .private
)
