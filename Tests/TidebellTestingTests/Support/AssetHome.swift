// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TidebellTesting

/// A cloud with one device and files to save.
struct AssetHome {
    let cloud: TestCloud
    let phone: TestDevice
    let files: Files

    init(sockets: Bool = false) async throws {
        cloud = try await TestCloud(sockets: sockets)
        phone = try await cloud.device(user: "anna")
        files = try Files()
        FinishedClouds.add(cloud, phone)
    }

    /// Removes what the cloud keeps, for a process that ends before anybody else does.
    func end() throws {
        let folders = [
            cloud.assetFolder.deletingLastPathComponent(), cloud.downloads, files.folder,
        ]
        for folder in folders {
            // Not everybody downloads.
            guard FileManager.default.fileExists(atPath: folder.path) else { continue }
            try FileManager.default.removeItem(at: folder)
        }
    }

    var database: CKDatabase { phone.privateDatabase }

    /// Returns a new record with a file in the field `f`.
    func note(
        _ url: URL, named name: String = "n", zone: CKRecordZone.ID = .default
    ) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone)
        )
        record["f"] = CKAsset(fileURL: url)
        return record
    }

    /// Saves a new record whose file holds a text, and returns it as it is fetched.
    func savedNote(_ text: String, zone: CKRecordZone.ID = .default) async throws -> CKRecord {
        let record = note(try files.write("f", text), zone: zone)
        try await database.save(record)
        return try await database.record(for: record.recordID)
    }

    /// The files on the server that are on their way, or kept.
    func serverFiles() throws -> [String] {
        let folder = cloud.assetFolder
        let manager = FileManager.default
        let kept = try manager.contentsOfDirectory(atPath: folder.path + "/kept").flatMap { part in
            try manager.contentsOfDirectory(atPath: folder.path + "/kept/\(part)")
        }
        return try manager.contentsOfDirectory(atPath: folder.path + "/incoming") + kept
    }

    /// The files that were downloaded on the device, or are being so.
    func stagedFiles() -> [String] {
        let folder = cloud.downloads.appendingPathComponent(phone.deviceID)
        // It is made with the first download.
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }
}

/// Files of a test, in a folder that goes with it.
final class Files: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Writes a file.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url
    }

    /// Writes a file of so many bytes, of which no two pieces are alike.
    func write(_ name: String, bytes: Int) throws -> URL {
        let url = folder.appendingPathComponent(name)
        let pattern = Data((0..<4099).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var data = Data(capacity: bytes + pattern.count)
        while data.count < bytes { data += pattern }
        try data.prefix(bytes).write(to: url)
        return url
    }

    /// The text of an asset's file.
    func text(of value: (any CKRecordValueProtocol)?) throws -> String? {
        guard let url = (value as? CKAsset)?.fileURL else { return nil }
        return try String(contentsOf: url, encoding: .utf8)
    }
}
