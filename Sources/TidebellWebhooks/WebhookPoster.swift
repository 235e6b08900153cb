// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Sends messages to receivers.
package protocol WebhookPoster: Sendable {
    /// Posts a message and returns the answer, or fails with
    /// ``WebhookUnreachable`` when none came within `timeout`.
    func post(
        _ message: WebhookMessage, to url: String, within timeout: Duration
    ) async throws -> WebhookAnswer
}

/// Why a receiver did not answer, in a few words.
package struct WebhookUnreachable: Error, Hashable, CustomStringConvertible {
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
        self.description = description
    }
}

/// Posts over HTTP; certificates are verified, redirects not followed.
package struct HTTPWebhookPoster: WebhookPoster {
    /// Connections to one receiver that are kept: as many as a window.
    private static let connectionsPerReceiver = 8
    /// Bytes of an answer's body that are read, so that the connection can be
    /// kept; what a receiver sends in it does not matter.
    private static let answerBytes = 64 * 1024

    // One client for the process: it owns connections and is never shut down.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            connectionsPerReceiver
        // When to try again is the route's decision.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Creates a poster.
    package init() {}

    package func post(
        _ message: WebhookMessage, to url: String, within timeout: Duration
    ) async throws -> WebhookAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in message.headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        do {
            let response = try await Self.client.execute(request, timeout: TimeAmount(timeout))
            await Self.drain(response, within: timeout)
            return WebhookAnswer(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After")
            )
        } catch {
            throw WebhookUnreachable(error)
        }
    }

    /// Reads the body, as far as it is short and comes soon.
    private static func drain(_ response: HTTPClientResponse, within timeout: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            // Whether the whole body came does not matter: the status has.
            group.addTask { _ = try? await response.body.collect(upTo: answerBytes) }
            group.addTask { try? await ContinuousClock().sleep(for: timeout) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension WebhookUnreachable {
    /// Returns in a few words what an error of the HTTP client means.
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as WebhookUnreachable: self = error
        case let error as IOError: self.init(String(cString: strerror(error.errnoCode)))
        case let error as HTTPClientError: self.init(error.shortDescription)
        default: self.init("\(error)")
        }
    }
}
