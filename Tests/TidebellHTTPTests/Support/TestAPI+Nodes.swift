// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

// Several servers of one store, and what happens behind a form.
extension TestAPI {
    /// Makes a further server of the store.
    ///
    /// - Parameter difference: How far its clock is ahead.
    func makeNode(
        ahead difference: Duration = .zero, shares: ShareLimits = ShareLimits(),
        provider: (OpenIDProvider.Configuration, ProviderTransport)? = nil
    ) -> CloudServices {
        let clock = clock
        let time = Time(now: { clock.instant.advanced(by: difference) }, clock: clock)
        return CloudServices(
            store: cloud.store, secret: .test, rootKey: Self.rootKey, time: time,
            randomness: .seeded(2), shares: shares,
            provider: provider.map { OpenIDProvider($0.0, time: time, transport: $0.1) },
            logger: log.logger)
    }

    /// Sends a request to one of the servers.
    func send(
        _ method: String, _ target: String, _ body: String = "", headers: [String: String] = [:],
        to node: CloudServices
    ) async throws -> Answer {
        let response = await node.respond(
            to: WebRequest(
                try #require(HTTPRequest.Method(method)), target, headers: HTTPFields(headers),
                body: .bytes(Array(body.utf8)), from: origin(nil)))
        return Answer(
            status: response.status,
            text: String(decoding: try await response.body.collect(), as: UTF8.self),
            headers: response.headers)
    }

    /// Enters the code of a device as a user; false where nobody waits for that.
    func enter(_ code: String, as name: String) async throws -> Bool {
        let now = clock.instant
        let signIn = try #require(try await cloud.store.read { try $0.signIn(calledBy: name) })
        return try await cloud.store.write(.store) {
            try $0.enterDeviceSignIn(
                userCode: code, by: KnownUser(name: name, signIn: signIn).entered, at: now)
        }
    }
}
