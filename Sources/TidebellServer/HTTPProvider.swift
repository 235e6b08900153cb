// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import TidebellHTTP
package import TidebellScheduling

/// The way to an identity provider: certificates are verified, redirects not followed.
package enum HTTPProvider {
    /// Why a provider did not answer.
    struct Unreachable: Error, CustomStringConvertible {
        let description: String
    }

    // One client for the process: it owns connections and is never shut down.
    private static let client = makeClient(OpenIDProvider.answerTime)

    /// Makes a client whose answers give their connections back when they stall for so long.
    static func makeClient(_ answerTime: Duration) -> HTTPClient {
        HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: HTTPClient.Configuration.Timeout(
                    connect: TimeAmount(answerTime), read: TimeAmount(answerTime))))
    }

    /// Sends a request, and returns the answer to it.
    package static func send(_ request: ProviderRequest, time: Time) async throws -> [UInt8] {
        try await send(request, by: client, within: OpenIDProvider.answerTime, time: time)
    }

    /// Sends a request by a client; one part of the answer may come late, all of it not.
    static func send(
        _ request: ProviderRequest, by client: HTTPClient, within answerTime: Duration, time: Time
    ) async throws -> [UInt8] {
        var sent = HTTPClientRequest(url: request.url)
        sent.headers.add(name: "Accept", value: "application/json")
        for (name, value) in request.headers { sent.headers.add(name: name, value: value) }
        if let form = request.form {
            sent.method = .POST
            sent.body = .bytes(ByteBuffer(bytes: form))
        }
        let end = time.elapsed() + answerTime
        do {
            // The time is for the head alone.
            let answer = try await client.execute(sent, timeout: TimeAmount(answerTime))
            guard answer.status == .ok else {
                throw Unreachable(
                    description: "the provider answered with status \(answer.status.code)")
            }
            var body: [UInt8] = []
            for try await part in answer.body {
                body += part.readableBytesView
                guard body.count <= OpenIDProvider.mostAnswerBytes else {
                    throw Unreachable(description: "the provider's answer is too long")
                }
                guard time.elapsed() < end else {
                    throw Unreachable(description: "the provider's answer takes too long")
                }
            }
            return body
        } catch let error as Unreachable {
            throw error
        } catch {
            throw Unreachable(description: "the provider cannot be reached: \(error)")
        }
    }
}
