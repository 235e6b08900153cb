// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TidebellCore
import TidebellPush
import TidebellSQLite
import TidebellServer
import TidebellTestStores
import TidebellWire

extension Simulation {
    /// Goes through the whole walk and looks at what is left.
    func run() async throws -> Tally {
        try start()
        try await settle()
        try await noteLogged()
        for (index, step) in walk.steps.enumerated() {
            do {
                try await patiently { try await $0.perform(step) }
            } catch {
                throw Violation("step \(index + 1) (\(step))", error)
            }
        }
        do {
            try await patiently { try await $0.finish() }
        } catch {
            throw Violation("at the end", error)
        }
        var tally = Tally()
        tally.changes = changeCount
        tally.returns = returnCount
        tally.notifications = model.log.count + sharing.notificationCount
        tally.delivered = deliveredCount
        return tally
    }

    /// Fails when `body` hangs: a push that never comes is waited for.
    private func patiently(
        _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body(self) }
            group.addTask {
                // In parts, each of which takes its turn: where a busy machine lets no
                // task on, this one does not get on either.
                for _ in 0..<100 {
                    try await ContinuousClock().sleep(for: .patience / 100)
                }
                throw Violation("nothing happens any more")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func perform(_ step: Step) async throws {
        // Changes are rarer than milliseconds, on which positions and lives count.
        if walk.hasReturns || walk.hasSharing { advance(by: .seconds(1)) }
        store.fix(step.death)
        fatalStage = if case .after(let stage)? = step.death { stage } else { nil }
        do {
            try await perform(step.action)
        } catch is MortalStore.Died {
            // Seen below.
        }
        fatalStage = nil
        meanwhile = [:]
        if store.isDead {
            // A new process on the same file; what the pass had stored is found.
            let snapshot = found
            try await kill()
            try start()
            found = snapshot
        }
        store.fix(nil)
        try await observe()
        try await noteLogged()
        if walk.hasSharing { try await checkSharing() }
    }

    private func perform(_ action: Action) async throws {
        switch action {
        case .modify, .createZones, .deleteZones, .subscribe, .unsubscribe:
            try await change(action)
        case .notify(let meanwhile): try await notify(0, meanwhile)
        case .notifyBeside(let pipeline, let meanwhile): try await notify(pipeline, meanwhile)
        case .leasesExpire: advance(by: PushConfiguration().leaseDuration)
        case .several(let actions):
            for action in actions { try await perform(action) }
        case .connect(let device): try await connect(device)
        case .disconnect(let device): streams[device] = nil
        case .read(let device, let limit, let forgets):
            try await read(device, limit: limit, forgets: forgets)
        case .acknowledge(let device): try await acknowledge(device)
        case .poll(let device, let breaksOff): try await poll(device, breaksOff: breaksOff)
        case .signIn(let device, let user): try await signIn(device, user)
        case .setBadge(let writer, let badge): try await setBadge(writer, badge)
        case .restart: store.die()
        case .wait(let hours): advance(by: .seconds(3600 * hours))
        case .maintain: try await maintain()
        case .request(let action):
            requestCount += 1
            try await change(action, as: "request-\(requestCount)")
        case .again(let request): try await sendAgain(request)
        case .saveFile(let writer, let site, let edit, let content, let fault):
            try await saveFile(content, of: edit, in: site, by: writer, fault)
        case .loseFile(let number): try await loseFile(number)
        case .listen(let changes): try await listen(changes)
        case .edit(let device, let zone, let edit): self.edit(device, zone, edit)
        case .send(let device): try await send(device)
        case .fetch(let device): try await fetch(device)
        case .backUp, .restore, .putBack, .cut:
            // Other engines come back from older moments by tools of their own.
            if TestStores.factory.isInDataFolder { try await comeBack(action) }
        case .sharing(let action): try await perform(action)
        case .query(let writer, let site, let query, let isSorted, let page, let between):
            try await self.query(
                writer, site, query, isSorted: isSorted, page: page, between: between)
        case .indexing(let indexing): try await perform(indexing)
        }
    }

    /// Keeps a moment of the store's file, or brings one back.
    private func comeBack(_ action: Action) async throws {
        switch action {
        case .backUp: try await backUp()
        case .restore(let backup): try await restore(backup)
        case .putBack(let backup): try await putBack(backup)
        case .cut(let commits, let torn): try await cut(commits, torn: torn)
        default: break
        }
    }

    private func notify(_ pipeline: Int, _ meanwhile: Interjection?) async throws {
        self.meanwhile[pipeline] = meanwhile
        active = pipeline
        _ = try await pipelines[pipeline].drain()
    }

    /// What happens after each stage of a pass.
    func reached(_ stage: PassStep, by pipeline: Int) async throws {
        do {
            try await happen(after: stage, of: pipeline)
        } catch {
            violation = error
            throw error
        }
    }

    private func happen(after stage: PassStep, of pipeline: Int) async throws {
        active = pipeline
        if stage == .read { found[pipeline] = model.snapshot }
        if stage == .committed {
            try await observe()
            try await noteLogged()
        }
        if let interjection = meanwhile[pipeline], interjection.after == stage {
            meanwhile[pipeline] = nil
            try await perform(interjection.action)
            active = pipeline
        }
        guard stage == fatalStage else { return }
        store.die()
        throw MortalStore.Died()
    }

    /// Creates the users and their devices.
    private func settle() async throws {
        apiToken = try await cloud.accounts.makeAPIToken(named: "walk")
        for user in 0..<walk.users {
            let webToken = try await cloud.accounts.add(
                named: "user-\(user)", tokenLifetime: .seconds(100 * 365 * 24 * 3600)
            )
            people.append(
                Person(id: UserID(rawValue: 0), recordName: "", webToken: webToken, courier: "")
            )
            try await meet(user)
            for device in Names.streamers(of: user) {
                try await register(device, of: user)
                sharing.devices[device] = SharingDevice(user: user)
            }
            try await openPage(of: user)
            if walk.hasSharing { try await subscribeToAll(of: user) }
        }
    }

    func maintain() async throws {
        for case let maintenance as Maintenance in cloud.services { await maintenance.round() }
        let retention = Limits().notificationRetention
        // Behind the clock after restarts: see `RetentionClock`.
        let moment = try await base.write(.everything) { [now] transaction in
            try transaction.moveRetention(to: now, byAtMost: .zero)
        }
        let oldest = moment.advanced(by: .zero - retention)
        let living = try await livingSequences()
        for index in model.log.indices where model.log[index].state == .living {
            let row = model.log[index]
            if living.contains(row.sequence) {
                try demand(
                    store.isDead || row.createdAt >= oldest,
                    "maintenance left notification \(row.sequence)"
                )
            } else {
                try demand(
                    row.createdAt < oldest, "maintenance removed notification \(row.sequence)"
                )
                model.log[index].state = .trimmed
            }
        }
    }

    /// Delivers everything to everybody and compares the whole cloud with the model.
    private func finish() async throws {
        store.fix(nil)
        guard !walk.hasSharing else {
            try await finishSharing()
            return try checkStore()
        }
        if walk.hasReturns {
            try await syncAll()
            try await noteGiven()
        }
        _ = try await cloud.pipeline.drain()
        try await observe()
        try demand(model.pending.isEmpty, "changes are left in the outbox")
        for device in model.devices.keys.sorted() {
            if device.hasPrefix("page") {
                while try await poll(device, breaksOff: false) {}
            } else {
                try await read(device, limit: .max, forgets: false)
            }
        }
        try checkCoverage()
        try await checkRecords()
        if walk.isWide { try await checkFiles() }
        try checkStore()
    }

    /// Checks that `tidebell check` finds nothing.
    private func checkStore() throws {
        // Other engines have checks of their own.
        guard TestStores.factory.isInDataFolder else { return }
        let path = data.appendingPathComponent(Self.databaseName).path
        let problems = try StoreCheck.run(at: path).problems
        try demand(problems.isEmpty, "the store has problems: \(problems.map(\.line))")
    }
}
