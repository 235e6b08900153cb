// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellWire

@testable import TidebellHTTP
@testable import TidebellServer

@Suite("Identity providers that are slow, and who asks them", .hangs) struct HTTPProviderTests {
    @Test("An answer that stalls ends, and gives its connection back")
    func stalled() async throws {
        let server = try RawServer(
            answering: "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", thenCloses: false)
        let client = HTTPProvider.makeClient(.milliseconds(200))
        let request = ProviderRequest(url: try server.url("/").absoluteString)
        await #expect(throws: HTTPProvider.Unreachable.self) {
            try await HTTPProvider.send(
                request, by: client, within: .milliseconds(200), time: .system)
        }
        try await client.shutdown()
    }

    @Test("An answer that drips ends when its time is up, though each part of it comes in time")
    func dripping() async throws {
        let server = try RawServer(
            answering: "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", thenCloses: false)
        let client = HTTPProvider.makeClient(.patience)
        let request = ProviderRequest(url: try server.url("/").absoluteString)
        let looks = Locked(0)
        let clock = StepClock(at: TestAPI.start)
        let time = Time(now: { clock.instant }, clock: clock) {
            // From one look at the clock to the next all of the time goes by.
            looks.withLock { looks in
                looks += 1
                return Duration.patience * looks
            }
        }
        let error = await #expect(throws: HTTPProvider.Unreachable.self) {
            try await HTTPProvider.send(request, by: client, within: .patience, time: time)
        }
        #expect(error?.description == "the provider's answer takes too long")
        try await client.shutdown()
    }

    @Test("One address keeps no other one from the provider")
    func crowd() async throws {
        let isOpen = Locked(false)
        let asked = Locked(0)
        let provider = OpenIDProvider(
            OpenIDProvider.Configuration(
                issuer: "https://id.example", clientID: "c", clientSecret: nil, name: "ID"),
            time: .system
        ) { _ in
            asked.withLock { $0 += 1 }
            await eventually { isOpen.current }
            return Array("{}".utf8)
        }
        @Sendable func begin(_ address: String) async -> ServerErrorCode? {
            do {
                _ = try await provider.authorizationURL(
                    redirect: "https://app.example", state: "s", nonce: "n", verifier: "v",
                    for: .network(address))
                return nil
            } catch {
                return (error as? WireError)?.code
            }
        }
        await withTaskGroup(of: ServerErrorCode?.self) { group in
            for _ in 0..<OpenIDProvider.mostWaitingPerAddress {
                group.addTask { await begin("192.0.2.1") }
            }
            await eventually { asked.current == OpenIDProvider.mostWaitingPerAddress }
            #expect(await begin("192.0.2.1") == .tryAgainLater)
            group.addTask { await begin("198.51.100.1") }
            await eventually { asked.current == OpenIDProvider.mostWaitingPerAddress + 1 }
            isOpen.current = true
            // The answer is no provider's, which is no refusal of the caller.
            for await code in group { #expect(code == nil) }
        }
    }
}
