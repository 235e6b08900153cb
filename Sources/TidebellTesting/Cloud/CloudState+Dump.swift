// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellCore
import TidebellWire

extension CloudState {
    /// Records that one look at a zone reads.
    private static let page = 1000

    /// Returns the text of ``TestCloud/dump()``.
    func dump() async throws -> String {
        let (accounts, paths) = (accounts, paths)
        let server = try running()
        let cipher = server.fieldCipher
        let lines = try await server.store.read { reader in
            try paths.flatMap { path -> [String] in
                guard let environment = CloudEnvironment(rawValue: path.environment) else {
                    return []
                }
                let key = ContainerKey(container: path.container, environment: environment)
                let lines = try Self.lines(of: key, accounts: accounts, cipher, in: reader)
                return lines.isEmpty ? [] : ["\(path.container) \(path.environment)"] + lines
            }
        }
        let faults = faultLines + refusalLines
        let waiting = faults.isEmpty ? [] : ["faults to come"] + faults.map { "  " + $0 }
        return (lines + waiting).joined(separator: "\n")
    }

    /// The dump, or why there is none: for texts of failures.
    func dumpOrFailure() async -> String {
        do {
            return try await dump()
        } catch {
            return "\(error)"
        }
    }

    private static func lines(
        of container: ContainerKey,
        accounts: [String],
        _ cipher: any FieldCipher,
        in reader: any StoreReader
    ) throws -> [String] {
        var users: [(name: String, id: UserID)] = []
        for name in accounts {
            guard let account = try reader.account(named: name),
                let user = try reader.user(of: account, in: container)
            else { continue }
            users.append((name, user.id))
        }
        let everyone = DatabaseKey(container: container, scope: .public, owner: nil)
        var lines = try Self.lines(of: everyone, title: "public", users: users, cipher, in: reader)
        for user in users {
            for scope in [DatabaseScope.private, .shared] {
                let key = DatabaseKey(container: container, scope: scope, owner: user.id)
                let title = "\(user.name) \(scope.rawValue)"
                lines += try Self.lines(of: key, title: title, users: [user], cipher, in: reader)
            }
        }
        return lines.map { "  " + $0 }
    }

    private static func lines(
        of key: DatabaseKey,
        title: String,
        users: [(name: String, id: UserID)],
        _ cipher: any FieldCipher,
        in reader: any StoreReader
    ) throws -> [String] {
        guard let database = try reader.database(key) else { return [] }
        var lines = try reader.zones(nil, in: database.id).flatMap { zone in
            ["zone \(zone.name)"] + (try Self.lines(of: zone, cipher, in: reader)).map { "  " + $0 }
        }
        for user in users {
            let subscriptions = try reader.subscriptions(nil, of: user.id, in: database.id)
            let owner = key.owner == nil ? " of \(user.name)" : ""
            lines += subscriptions.map(\.subscription).map { $0.line(owner: owner) }.sorted()
        }
        return lines.isEmpty ? [] : [title] + lines.map { "  " + $0 }
    }

    private static func lines(
        of zone: StoredZone,
        _ cipher: any FieldCipher,
        in reader: any StoreReader
    ) throws -> [String] {
        var lines: [String] = []
        var position = Position.start
        while true {
            let (records, isComplete) = try reader.recordChanges(
                in: zone.key,
                after: position,
                limit: page,
                byteLimit: .max,
                reverse: false
            )
            lines += try records.filter { !$0.isDeleted }.map { record in
                guard record.fields.isSealed else { return record.line }
                var record = record
                record.fields = try cipher.opened(record.fields, ofRecord: record.name, in: zone)
                return record.line
            }
            guard !isComplete, let last = records.last else { return lines.sorted() }
            position = last.position
        }
    }
}

extension StoredRecord {
    fileprivate var line: String {
        let parent = parent.map { " parent \($0)" } ?? ""
        return "\(type) \(name)\(parent) \(String(decoding: fields.json, as: UTF8.self))"
    }
}

extension WireSubscription {
    fileprivate func line(owner: String) -> String {
        var line = "subscription \(subscriptionID)\(owner) \(kind.rawValue)"
        if let zoneID { line += " zone \(zoneID.zoneName)" }
        if let recordType { line += " type \(recordType)" }
        if kind == .query { line += " on \(firesOn.names.joined(separator: "+"))" }
        if firesOnce { line += " once" }
        return line
    }
}
