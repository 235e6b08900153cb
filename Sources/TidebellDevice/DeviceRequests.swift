// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellTransport
import TidebellWire

/// A container as the command line reaches it for its user: requests one by one, sent once.
struct DeviceRequests {
    /// The longest wait for an answer.
    static let timeout = Duration.seconds(60)

    /// The container's identifier.
    let container: String
    /// The server, and the tokens.
    let configuration: DeviceConfiguration
    let transport: any Transport

    /// An answer, and the token that takes the place of the request's from now on.
    struct Answer<Value: Sendable>: Sendable {
        var value: Value
        var renewedToken: String?
    }

    /// Sends a request to an endpoint that is in no database, or in one only.
    func send<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type, _ request: Endpoint.Request
    ) async throws(DeviceError) -> Answer<Endpoint.Response>
    where Endpoint.Request: WireBody, Endpoint.Response: WireBody {
        try DeviceConfiguration.check(container: container)
        let route = endpoint.route
        let hasBody = route.method != .get
        var headers = [(WireProtocol.extensionsHeader, "1")]
        if hasBody { headers.append(("Content-Type", WireProtocol.contentType)) }
        let sent = TransportRequest(
            method: route.method.rawValue,
            path: route.path.text(in: container, configuration.environment)
                + configuration.query(apiToken: configuration.apiToken ?? ""),
            headers: headers,
            body: hasBody ? JSONWriter.write { request.write(to: &$0) } : nil
        )
        let response: TransportResponse
        do {
            response = try await transport.send(sent, timeout: Self.timeout)
        } catch let error as TransportError {
            throw DeviceError(error, server: configuration.server)
        } catch {
            throw DeviceError(.networkFailure, "The request failed: \(error)")
        }
        guard response.status == 200 else { throw DeviceError(response) }
        do {
            let value = try JSONReader.read(response.body) { try Endpoint.Response(from: &$0) }
            let token = response.header(WireProtocol.webAuthTokenHeader)
            return Answer(value: value, renewedToken: token.flatMap { $0.isEmpty ? nil : $0 })
        } catch {
            throw DeviceError(.internalError, "The server's answer cannot be read: \(error)")
        }
    }
}
