// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import TidebellHTTP

/// The way to an identity provider: certificates are verified, redirects not followed.
package enum HTTPProvider {
    /// Why a provider did not answer.
    struct Unreachable: Error, CustomStringConvertible {
        let description: String
    }

    // One client for the process: it owns connections and is never shut down.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    /// Sends a request, and returns the answer to it.
    package static func send(_ request: ProviderRequest) async throws -> [UInt8] {
        var sent = HTTPClientRequest(url: request.url)
        sent.headers.add(name: "Accept", value: "application/json")
        for (name, value) in request.headers { sent.headers.add(name: name, value: value) }
        if let form = request.form {
            sent.method = .POST
            sent.body = .bytes(ByteBuffer(bytes: form))
        }
        let seconds = OpenIDProvider.answerTime.components.seconds
        do {
            let answer = try await client.execute(sent, timeout: .seconds(seconds))
            guard answer.status == .ok else {
                throw Unreachable(
                    description: "the provider answered with status \(answer.status.code)")
            }
            let body = try await answer.body.collect(upTo: OpenIDProvider.mostAnswerBytes)
            return Array(body.readableBytesView)
        } catch let error as Unreachable {
            throw error
        } catch {
            throw Unreachable(description: "the provider cannot be reached: \(error)")
        }
    }
}
