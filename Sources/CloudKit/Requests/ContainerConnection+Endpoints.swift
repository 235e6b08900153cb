// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension DatabaseConnection {
    /// Sends a request to an endpoint of the database, and returns its answer.
    ///
    /// - Parameters:
    ///   - name: The name among the operation's requests; nil for the next one of the
    ///     endpoint.
    ///   - isKept: Whether a long-lived operation keeps the answer.
    func send<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type,
        _ request: Endpoint.Request,
        _ options: RequestOptions,
        named name: String? = nil,
        isKept: Bool = true
    ) async throws(CKError) -> WebServicesAnswer<Endpoint.Response>
    where Endpoint.Request: WireBody, Endpoint.Response: WireBody {
        var call = WebServicesCall(endpoint, request, in: scope)
        call.name = name
        call.isKept = isKept
        return try await container.answer(of: endpoint, to: call, request.itemCount, options)
    }
}

extension ContainerConnection {
    /// Sends a request to an endpoint that is in no database, or in one only, and returns
    /// its answer.
    ///
    /// - Parameter needsUser: Whether a user must be signed in; nil is what the endpoint
    ///   declares.
    func send<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type,
        _ request: Endpoint.Request,
        _ options: RequestOptions = RequestOptions(),
        needsUser: Bool? = nil
    ) async throws(CKError) -> WebServicesAnswer<Endpoint.Response>
    where Endpoint.Request: WireBody, Endpoint.Response: WireBody {
        var call = WebServicesCall(endpoint, request)
        if let needsUser { call.needsUser = needsUser }
        return try await answer(of: endpoint, to: call, request.itemCount, options)
    }

    /// Returns the answer to a call; one without an item for each one asked for fails, since
    /// items are distinguished by their position.
    fileprivate func answer<Endpoint: WireEndpoint>(
        of _: Endpoint.Type,
        to call: WebServicesCall,
        _ itemCount: Int?,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<Endpoint.Response>
    where Endpoint.Response: WireBody {
        let answer = try await answer(to: call, options: options) {
            try Endpoint.Response(from: &$0)
        }
        guard let expected = itemCount, let count = answer.value.itemCount, count != expected
        else { return answer }
        throw .server(
            .internalError,
            "The server's answer has \(count) items for \(expected) requested ones.",
            report: answer.report
        )
    }
}
