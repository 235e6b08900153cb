// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellPush

@Suite("The watch over who may receive pushes", .hangs)
struct ListenerWatchTests {
    @Test("H5: however often somebody's access ends, the store is looked at after a pause only")
    func pause() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let device = try await world.device("phone", of: anna)
            @Sendable func begin(_ session: String) async throws -> SessionID {
                try await world.store.write(.everything) { transaction in
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: anna.user.account,
                            expiresAt: World.noon.advanced(by: .seconds(60)),
                            session: SessionID(rawValue: session), origin: .device),
                        hash: Array(session.utf8)
                    )
                    return SessionID(rawValue: session)
                }
            }
            let watch = ListenerWatch(
                store: world.store, clock: world.clock, now: { World.noon },
                logger: world.log.logger
            )
            let watched = watch.watch([.stream(device.key, try await begin("watched"))]) {}
            defer { withExtendedLifetime(watched) {} }
            let before = world.store.reads
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watch.run() }
                await eventually { world.store.reads == before + 1 }
                for number in 0..<20 {
                    let session = try await begin("\(number)")
                    try await world.store.write(.everything) { try $0.removeSession(session) }
                    await letOthersRun()
                }
                #expect(world.store.reads == before + 1)
                world.clock.advance(by: .milliseconds(100))
                await eventually { world.store.reads == before + 2 }
                group.cancelAll()
            }
            #expect(watch.count == 1)
        }
    }
}
