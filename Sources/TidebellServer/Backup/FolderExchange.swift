// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// The exchange of what is in a data folder for what was restored: names are changed, one
/// after the other, and until the last one all of it can be taken back.
///
/// ```
/// .restoring.json        the plan, written before the first name is changed and removed
///                        after the last: while it is there nobody may use the folder
/// .restoring/            what is to come in
/// before-restore-N/      what was there
/// ```
///
/// Both folders are inside of the data folder, which may be a mount of its own.
struct FolderExchange {
    static let planName = ".restoring.json"
    /// Where the plan is until it is whole.
    static let newPlanName = "\(planName).new"
    static let draftName = ".restoring"

    /// What is exchanged, as names at the top of the data folder.
    private struct Plan: Codable {
        /// The folder that takes what was there; nil where nothing was.
        var aside: String?
        var old: [String]
        var new: [String]
    }

    private let folder: URL
    private let plan: Plan
    private let moved: () throws -> Void

    /// Exchanges `old` for all that is in the draft; the folder `aside`, which must not exist,
    /// takes it.
    ///
    /// - Parameter moved: Called after each step: where tests look at what a stop there leaves.
    static func run(
        in folder: URL, movingAside old: [String], to aside: String,
        moved: @escaping () throws -> Void
    ) throws {
        let draft = folder.appendingPathComponent(draftName)
        let new = try FileManager.default.contentsOfDirectory(atPath: draft.path).sorted()
        // A file in the way of a new one must be in the list of old ones, to be put back.
        if let taken = new.first(where: { !old.contains($0) && exists($0, in: folder) }) {
            let path = folder.appendingPathComponent(taken).path
            throw OperatorError("The backup was not restored: \(path) is in the way; move it.")
        }
        let plan = Plan(aside: old.isEmpty ? nil : aside, old: old, new: new)
        let exchange = FolderExchange(folder: folder, plan: plan, moved: moved)
        if let aside = plan.aside {
            let path = folder.appendingPathComponent(aside).path
            guard mkdir(path, 0o700) == 0 else { throw DiskError("make \(path)") }
        }
        do {
            try exchange.write()
        } catch {
            exchange.forget()
            throw error
        }
        do {
            try exchange.carryOut()
        } catch {
            try exchange.takeBack()
            throw error
        }
        try exchange.removePlan()
        // Empty, and what is left of it is in nobody's way.
        rmdir(draft.path)
        try moved()
    }

    /// Whether an exchange is under way in a folder, or was stopped in the middle.
    static func isUnderWay(in folder: URL) -> Bool {
        access(folder.appendingPathComponent(planName).path, F_OK) == 0
    }

    /// Takes an exchange back that was stopped; only for the holder of the folder's lock.
    static func takeBack(in folder: URL) throws {
        let data = try Data(contentsOf: folder.appendingPathComponent(planName))
        // An exchange whose plan cannot be read was stopped before anything was moved.
        let plan = try? JSONDecoder().decode(Plan.self, from: data)
        try FolderExchange(
            folder: folder, plan: plan ?? Plan(old: [], new: []), moved: {}
        ).takeBack()
    }

    private var planFile: URL { folder.appendingPathComponent(Self.planName) }
    private var draft: URL { folder.appendingPathComponent(Self.draftName) }
    private var aside: URL? { plan.aside.map { folder.appendingPathComponent($0) } }

    private var newPlanFile: URL { folder.appendingPathComponent(Self.newPlanName) }

    /// Writes the plan, whole or not at all: half of one would hold up every server.
    private func write() throws {
        // An exchange that was stopped may have left its new plan.
        unlink(newPlanFile.path)
        try DurableFile.write([UInt8](try JSONEncoder().encode(plan)), to: newPlanFile)
        guard rename(newPlanFile.path, planFile.path) == 0 else {
            throw DiskError("write \(planFile.path)")
        }
        try DurableFile.flush(folder)
    }

    /// Removes what a plan that could not be written left, before anything was moved.
    private func forget() {
        unlink(newPlanFile.path)
        unlink(planFile.path)
        if let aside { rmdir(aside.path) }
    }

    /// The database goes first and comes last: where an older Tidebell starts on what was
    /// stopped, it finds files and no database.
    private func carryOut() throws {
        try moved()
        let isDatabase = { (name: String) in name.hasPrefix(DataFolder.databaseName) }
        if let aside {
            for name in plan.old.filter(isDatabase) + plan.old.filter({ !isDatabase($0) }) {
                try move(name, from: folder, to: aside)
                try moved()
            }
            try DurableFile.flush(aside)
        }
        for name in plan.new.filter({ !isDatabase($0) }) + plan.new.filter(isDatabase) {
            try move(name, from: draft, to: folder)
            try moved()
        }
        try DurableFile.flush(folder)
    }

    private func takeBack() throws {
        let isEmpty = plan.old.isEmpty && plan.new.isEmpty
        if !isEmpty, mkdir(draft.path, 0o700) != 0, errno != EEXIST {
            throw DiskError("make \(draft.path)")
        }
        for name in plan.new where Self.exists(name, in: folder) {
            // A file there is new unless it is one of the old ones that was not moved yet.
            guard !plan.old.contains(name) || aside.map({ Self.exists(name, in: $0) }) == true
            else {
                continue
            }
            try move(name, from: folder, to: draft)
        }
        if let aside {
            for name in plan.old where Self.exists(name, in: aside) {
                try move(name, from: aside, to: folder)
            }
            rmdir(aside.path)
        }
        try DurableFile.flush(folder)
        try removePlan()
    }

    private func removePlan() throws {
        guard unlink(planFile.path) == 0 else { throw DiskError("remove \(planFile.path)") }
        try DurableFile.flush(folder)
    }

    private static func exists(_ name: String, in folder: URL) -> Bool {
        FileStatus(folder.appendingPathComponent(name).path, followsLinks: false) != nil
    }

    private func move(_ name: String, from: URL, to: URL) throws {
        let source = from.appendingPathComponent(name).path
        guard rename(source, to.appendingPathComponent(name).path) == 0 else {
            throw DiskError("move \(source)")
        }
    }
}
