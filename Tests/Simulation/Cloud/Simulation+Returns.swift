// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellSQLite
import TidebellServer
import TidebellWire

/// Backups, and the store that comes back from an older moment.
extension Simulation {
    /// Makes a backup, as `tidebell backup` does beside the server.
    func backUp() async throws {
        let backups = folder.appendingPathComponent("backups")
        try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)
        let backup = backups.appendingPathComponent("\(self.backups.count)")
        let moment = try await present()
        _ = try Backup.make(of: DataFolder(data), to: backup, at: now)
        self.backups.append(MadeBackup(folder: backup, moment: moment))
    }

    /// Restores a backup, counted from the newest, as `tidebell restore --replace` does.
    func restore(_ number: Int) async throws {
        guard let backup = backup(number) else { return }
        try await noteGiven()
        try await kill()
        _ = try await Restoring.run(backup.folder, to: DataFolder(data), replacing: true, at: now)
        try start()
        try demand(!base.cameBackOlder, "a restored store is taken for one that lost something")
        try await comeBack(to: backup.moment, isAnotherLife: true)
    }

    /// Replaces the database that was served by that of a backup, and nothing else.
    func putBack(_ number: Int) async throws {
        guard let backup = backup(number) else { return }
        let present = try await progress()
        try await noteGiven()
        try await kill()
        try Data(contentsOf: backup.folder.appendingPathComponent(Self.databaseName))
            .write(to: database(""))
        try removeLog()
        try start()
        try await comeBack(to: backup.moment, lacking: present, mayLackMore: true)
    }

    /// Cuts the write-ahead log after an earlier commit, as a loss of power does on a disk that
    /// did not keep what it promised; `torn` bytes of the next one are left.
    func cut(_ commits: Int, torn: Int) async throws {
        guard !logged.isEmpty else { return }
        let target = logged[max(0, logged.count - 1 - commits)]
        let present = try await progress()
        try await noteGiven()
        let files = [try Data(contentsOf: database("")), try Data(contentsOf: database("-wal"))]
        try await kill()
        try removeLog()
        try files[0].write(to: database(""))
        try files[1].prefix(target.size + torn).write(to: database("-wal"))
        try start()
        try await comeBack(
            to: target.moment, lacking: present, mayLackMore: target.size < files[1].count)
    }

    /// Notes the end of the log, to which it may be cut, and what the cloud is now.
    func noteLogged() async throws {
        guard walk.hasReturns else { return }
        // There is none before the first commit.
        let attributes = try? FileManager.default.attributesOfItem(atPath: database("-wal").path)
        let size = attributes?[.size] as? Int ?? 0
        if logged.last?.size == size { logged.removeLast() }
        logged.append(LoggedMoment(size: size, moment: try await present()))
    }

    /// Notes what stands at each position; what stood there in whatever life must be the same.
    func noteGiven() async throws {
        for key in databases {
            for (position, content) in try await contents(of: key) {
                let givenPosition = GivenPosition(database: key, position: position)
                let known = given.updateValue(content, forKey: givenPosition) ?? content
                try demand(
                    known == content,
                    "position and change tag \(position.changeTag) were given twice, "
                        + "for \(known) and for \(content)"
                )
            }
        }
    }

    // MARK: -

    /// Takes over that the store is what it was at a moment, which it has to have noticed where it
    /// lacks something.
    ///
    /// - Parameter mayLackMore: Whether it lacks commits, of which it may notice those that moved
    ///   no position and no notification: tests of the store show which.
    private func comeBack(
        to moment: Moment, lacking present: Progress, mayLackMore: Bool
    ) async throws {
        let isLost = moment.progress.lacks(present)
        try demand(
            base.cameBackOlder || !isLost, "that the store came back older was not noticed"
        )
        try demand(
            !base.cameBackOlder || isLost || mayLackMore,
            "a store that lost nothing is taken for one that did"
        )
        try await comeBack(to: moment, isAnotherLife: base.cameBackOlder)
    }

    private func comeBack(to moment: Moment, isAnotherLife: Bool) async throws {
        returnCount += 1
        let heard = sharing.heard
        for client in model.comeBack(to: moment.model, isAnotherLife: isAnotherLife).sorted() {
            // Signed in since then, which the server does not know any more: the app registers it
            // with the next request.
            guard let user = model.devices[client]?.user else { continue }
            try await register(client, of: user)
        }
        guard !walk.hasSharing else {
            if isAnotherLife { model.lostLifeEnds = heard }
            sharing.comeBack(to: moment.sharing)
            return try await observe()
        }
        try await observe()
        try await checkRecords()
    }

    private func present() async throws -> Moment {
        Moment(model: model, sharing: sharing, progress: try await progress())
    }

    private func backup(_ number: Int) -> MadeBackup? {
        backups.isEmpty ? nil : backups[max(0, backups.count - 1 - number)]
    }

    private func removeLog() throws {
        for suffix in ["-wal", "-shm"] {
            let file = database(suffix)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.removeItem(at: file)
        }
    }

    private func database(_ suffix: String) -> URL {
        data.appendingPathComponent(Self.databaseName + suffix)
    }

    private var databases: [DatabaseKey] {
        people.map { DatabaseKey(container: Self.container, scope: .private, owner: $0.id) } + [
            DatabaseKey(container: Self.container, scope: .public, owner: nil)
        ]
    }

    private func progress() async throws -> Progress {
        let keys = databases
        let users = people.map(\.id)
        let incarnation = base.incarnation
        return try await base.read { reader in
            var progress = Progress(incarnation: incarnation)
            for user in users { progress.logs[user] = try reader.notificationHead(of: user) }
            for key in keys { progress.heads[key] = try reader.database(key)?.head }
            return progress
        }
    }

    /// What stands at the positions of a database: records, and what is left of deleted ones.
    private func contents(of key: DatabaseKey) async throws -> [(Position, String)] {
        try await base.read { reader in
            guard let database = try reader.database(key) else { return [] }
            return try reader.zones(nil, in: database.id).flatMap { zone in
                try reader.recordChanges(
                    in: zone.key, after: .start, limit: 10_000, byteLimit: .max, reverse: false
                ).records.map { record in
                    let fields = String(decoding: record.fields.json, as: UTF8.self)
                    let state = record.isDeleted ? "deleted" : fields
                    return (record.position, "\(zone.name)/\(record.name) (\(state))")
                }
            }
        }
    }
}

extension Model {
    /// Becomes what it was at a moment, except for what devices know and what counts what was
    /// ever written; returns the devices that the server knows as another user's, or not at all.
    mutating func comeBack(to moment: Model, isAnotherLife: Bool) -> [String] {
        var next = moment
        next.keepCounting(after: self)
        let ends = Dictionary(grouping: log, by: \.user).mapValues { rows in
            rows.map(\.sequence).max() ?? 0
        }
        next.lostLifeEnds = isAnotherLife ? ends : lostLifeEnds
        let kept = Set(moment.log.map(\.sequence))
        next.log += log.filter { !kept.contains($0.sequence) }.map { row in
            var row = row
            row.state = .lost
            return row
        }
        var strangers: [String] = []
        for (client, device) in devices {
            guard var known = moment.devices[client], known.user == device.user else {
                strangers.append(client)
                next.devices[client] = device
                continue
            }
            known.start = device.start
            known.cursor = device.cursor
            known.delivered = device.delivered
            // What stood for it may be lost, or was gone from the log before the device came.
            known.delivered.formUnion(
                moment.log.map(\.sequence).filter { $0 <= device.cursor && $0 > device.start }
            )
            next.devices[client] = known
        }
        self = next
        return strangers
    }
}
