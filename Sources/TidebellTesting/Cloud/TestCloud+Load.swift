// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellWire

extension TestCloud {
    /// Saves the records of a file, each as its user, and makes zones that are missing.
    ///
    /// ```json
    /// {
    ///   "private": {
    ///     "anna": {
    ///       "Notes": [
    ///         { "recordType": "Note", "recordName": "shopping", "fields": { "text": "milk" } }
    ///       ]
    ///     }
    ///   },
    ///   "public": {
    ///     "ben": [ { "recordType": "City", "recordName": "ulm", "fields": { "since": 854 } } ]
    ///   }
    /// }
    /// ```
    ///
    /// Records are written as CloudKit Web Services write them. A field is its value, or an object
    /// with `value` and `type` if the value does not determine the type: `{ "value": 1767268800000,
    /// "type": "TIMESTAMP" }`. Files cannot be in it. A record that exists is replaced.
    /// `"container"` names another container than the default one. A new device saves the records,
    /// so the users' existing devices are notified.
    ///
    /// - Parameters:
    ///   - name: The file; a path that does not begin with a slash is relative to the folder of the
    ///     test's source file.
    ///   - environment: The environment to save the records in.
    ///   - source: The source file of the test.
    /// - Throws: ``TestCloudError/misuse(_:)`` that names what is wrong with which record.
    public func load(
        _ name: String, environment: Environment = .development, beside source: String = #filePath
    ) async throws {
        let file =
            name.hasPrefix("/")
            ? URL(fileURLWithPath: name)
            : URL(fileURLWithPath: source).deletingLastPathComponent().appendingPathComponent(name)
        let fixtures: Fixtures
        do {
            fixtures = try Fixtures(try Data(contentsOf: file))
        } catch let error as TestCloudError {
            throw TestCloudError.misuse("\(file.path): \(error)")
        } catch {
            throw TestCloudError.misuse("\(file.path) cannot be read: \(error)")
        }
        let container = fixtures.container ?? state.defaultContainer
        for user in fixtures.users {
            let loader = try await device(user: user, environment: environment)
            let way = FixtureLoader(loader: loader, container: container, file: file.path)
            for zone in fixtures.zones(of: user) where zone != ZoneID.defaultName {
                try await way.makeZone(zone)
            }
            for batch in fixtures.batches where batch.user == user { try await way.save(batch) }
        }
    }
}

/// What a file of records holds.
private struct Fixtures {
    struct Batch {
        let user: String
        let isPublic: Bool
        let zone: String
        let records: [[String: Any]]
    }

    var container: String?
    var batches: [Batch] = []

    var users: [String] { Set(batches.map(\.user)).sorted() }

    func zones(of user: String) -> [String] {
        batches.filter { $0.user == user && !$0.isPublic }.map(\.zone).sorted()
    }

    init(_ data: Data) throws {
        let document = try Self.object(try JSONSerialization.jsonObject(with: data), "the document")
        for (key, value) in document {
            switch key {
            case "container":
                guard let name = value as? String else {
                    throw TestCloudError.misuse("'container' must be a text")
                }
                container = name
            case "private":
                for (user, zones) in try Self.object(value, "'private'") {
                    for (zone, records) in try Self.object(zones, "'private.\(user)'") {
                        let place = "'private.\(user).\(zone)'"
                        batches.append(
                            Batch(
                                user: user, isPublic: false, zone: zone,
                                records: try Self.records(records, place)))
                    }
                }
            case "public":
                for (user, records) in try Self.object(value, "'public'") {
                    batches.append(
                        Batch(
                            user: user, isPublic: true, zone: ZoneID.defaultName,
                            records: try Self.records(records, "'public.\(user)'")))
                }
            default:
                throw TestCloudError.misuse(
                    "'\(key)' is not one of 'container', 'private' and 'public'")
            }
        }
        batches.sort { ($0.user, $0.zone) < ($1.user, $1.zone) }
    }

    private static func object(_ value: Any, _ place: String) throws -> [String: Any] {
        guard let object = value as? [String: Any] else {
            throw TestCloudError.misuse("\(place) must be an object")
        }
        return object
    }

    private static func records(_ value: Any, _ place: String) throws -> [[String: Any]] {
        guard let list = value as? [[String: Any]] else {
            throw TestCloudError.misuse("\(place) must be a list of records")
        }
        return try list.map { record in
            var record = record
            guard let fields = record["fields"] else { return record }
            record["fields"] = try object(fields, "'fields' in \(place)").mapValues { value in
                (value as? [String: Any])?["value"] == nil ? ["value": value] : value
            }
            return record
        }
    }
}

/// The way of a file's records to the server: CloudKit Web Services, as a page would use them.
private struct FixtureLoader {
    let loader: TestDevice
    let container: String
    let file: String

    func makeZone(_ name: String) async throws {
        let operation: [String: Any] = [
            "operationType": "create", "zone": ["zoneID": ["zoneName": name]],
        ]
        try await send(ModifyZones.self, .private, ["operations": [operation]], list: "zones")
    }

    func save(_ batch: Fixtures.Batch) async throws {
        let size = WireProtocol.itemLimit
        for start in stride(from: 0, to: batch.records.count, by: size) {
            let part = batch.records[start..<min(start + size, batch.records.count)]
            let operations = part.map { ["operationType": "forceReplace", "record": $0] }
            try await send(
                ModifyRecords.self, batch.isPublic ? .public : .private,
                ["zoneID": ["zoneName": batch.zone], "operations": operations], list: "records"
            )
        }
    }

    private func send(
        _ endpoint: any WireEndpoint.Type, _ scope: DatabaseScope, _ body: [String: Any],
        list: String
    ) async throws {
        let answer = try await loader.webRequest(
            endpoint, in: container, scope,
            body: Array(try JSONSerialization.data(withJSONObject: body))
        )
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let items = object?[list] as? [[String: Any]] ?? []
        let failed = ([object].compactMap(\.self) + items).first { $0["serverErrorCode"] != nil }
        guard answer.status == 200, failed == nil else {
            let name = (failed?["recordName"] as? String).map { "record '\($0)': " } ?? ""
            throw TestCloudError.misuse(
                "\(file): \(name)\(failed?["reason"] as? String ?? "status \(answer.status)")")
        }
    }
}
