// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Logging
import TidebellCore
import TidebellWire

/// The path exists, but not for this method.
struct WrongMethod: Error {
    let allowed: [WireMethod]
}

/// The body comes in a form that the server does not read (RFC 9112, 6.1).
struct UnknownTransferCoding: Error {
    let coding: String
}

/// The body is compressed in a way that is not read here (RFC 9110, 15.5.16).
struct UnknownContentCoding: Error {
    let coding: String
    /// What is read.
    var known = "gzip"
}

extension WebServices {
    /// Returns the answer for a request that failed as a whole
    /// (web-services 3.1).
    ///
    /// What the caller caused is reported in full; what we broke is logged once and
    /// reported by its UUID only.
    func failure(_ error: any Error, of request: WebRequest, uuid: String) -> WebResponse {
        switch error {
        case let error as WireError:
            cloud.shares.metrics.count(error)
            return answer(error, of: request, uuid: uuid)
        case let error as OperatorError:
            return failure(WireError(error), of: request, uuid: uuid)
        case let error as StoreUnavailable:
            // Logged where it began: not by every request that meets it.
            return answer(error.answer, of: request, uuid: uuid)
        case let error as StoreDamaged:
            let search = cloud.store.damageSearch
            cloud.damage.report(error, search, to: cloud.logger)
            return answer(error.answer(search), of: request, uuid: uuid)
        case let error as JSONError:
            return answer(WireError(malformed: error), of: request, uuid: uuid)
        case let error as WrongMethod:
            let allowed = error.allowed.map(\.rawValue).joined(separator: ", ")
            var response = answer(
                .badRequest("the method must be \(allowed), not \(request.method.rawValue)"),
                of: request, uuid: uuid
            )
            response.status = 405
            response.headers[.allow] = allowed
            return response
        case let error as UnknownTransferCoding:
            var response = answer(
                .badRequest(
                    "the Transfer-Encoding '\(WireError.shortened(error.coding))' is not known; "
                        + "'chunked' is"
                ),
                of: request, uuid: uuid
            )
            response.status = 501
            return response
        case let error as UnknownContentCoding:
            var response = answer(
                .badRequest(
                    "the Content-Encoding '\(WireError.shortened(error.coding))' is not read here; "
                        + "'\(error.known)' alone is"
                ),
                of: request, uuid: uuid
            )
            response.status = 415
            response.headers[.acceptEncoding] = error.known
            return response
        case is BodyCutShort:
            return answer(
                .badRequest("the request ended before its body had come"), of: request, uuid: uuid
            )
        case is CancellationError:
            // A caller that went away is nobody's failure, and few see this answer.
            return answer(.clientIsGone, of: request, uuid: uuid)
        default:
            log(error, of: request, uuid: uuid)
            return answer(
                WireError(.internalError, "the server failed; its log knows the request's uuid"),
                of: request, uuid: uuid
            )
        }
    }

    /// Counts the bytes of a failure that is not small as its caller's, or where that is no user
    /// as its address's; where there is no room for them, the failure is that.
    func counted(
        _ failure: WebResponse, for account: AccountID?, of request: WebRequest, uuid: String
    ) -> WebResponse {
        guard case .bytes(let bytes) = failure.body else { return failure }
        var failure = failure
        do {
            failure.share = try cloud.shares.bodies.share(
                ofAnswer: bytes.count, to: cloud.shares.caller(account, of: request),
                mayBeRefused: true
            )
            return failure
        } catch {
            return self.failure(error, of: request, uuid: uuid)
        }
    }

    private func answer(_ error: WireError, of request: WebRequest, uuid: String) -> WebResponse {
        var error = error
        error.uuid = uuid
        if !request.usesExtensions { error.detail = nil }
        // Apple's codes have none for it (RFC 9110, 15.5.14).
        let isTooLong = error.bound == .requestBytes || error.bound == .assetBytes
        let status = isTooLong ? 413 : error.code.status
        var response = WebResponse.json(status: status) { error.write(to: &$0) }
        response.failure = error
        if let seconds = error.retryAfter {
            response.headers[.retryAfter] = String(Int(seconds.rounded(.up)))
        }
        return response
    }

    private func log(_ error: any Error, of request: WebRequest, uuid: String) {
        cloud.logger.error(
            "request failed",
            metadata: Self.metadata(of: request, uuid: uuid, adding: ["error": "\(error)"])
        )
    }

    /// What clients state about the operation behind a request (OP-10).
    private static let operationHeaders = [
        ("operation", HTTPField.Name.operationID),
        ("group", .groupID),
        ("groupName", .groupName),
        ("groupQuantity", .groupQuantity),
    ]
    /// Characters of one of them in the log.
    private static let headerLength = 100

    /// What the log has of every request it mentions.
    static func metadata(
        of request: WebRequest, uuid: String, adding extra: Logger.Metadata
    ) -> Logger.Metadata {
        var metadata = extra
        metadata["requestID"] = "\(uuid)"
        metadata["method"] = "\(request.method.rawValue)"
        metadata["endpoint"] = "\(endpoint(of: request))"
        for (key, name) in operationHeaders {
            guard let value = request.headers[name] else { continue }
            // Nor does it look like something else that the log has of a request.
            metadata[key] = "\(line(value.replacing("=", with: ":"), to: headerLength))"
        }
        return metadata
    }

    /// The paths behind which a secret stands.
    private static let secretStems = WireProtocol.endpoints.filter { $0.route.access == .url }
        .map { $0.route.path.stem }

    /// Whether something secret may stand in the path of a request.
    static func hasSecretPath(_ request: WebRequest) -> Bool {
        secretStems.contains { request.target.hasPrefix($0) }
    }

    /// The path without what is secret in it: the query with its tokens, and
    /// what follows in the URLs of couriers and files.
    private static func endpoint(of request: WebRequest) -> String {
        let path = request.target.prefix { $0 != "?" }
        for stem in secretStems where path.hasPrefix(stem) { return String(stem.dropLast()) }
        return WireError.shortened(path, to: 200)
    }
}

extension WireError {
    /// The body is longer than it may be, or what it expands to is.
    static func bodyTooLong(_ limit: Int) -> WireError {
        badRequest(
            "the request body is longer than \(limit) bytes", ckCode: CKErrorCode.limitExceeded
        ).naming(.requestBytes)
    }

    /// The client closed its side of the connection while its request waited for a turn, or
    /// the server stops.
    fileprivate static let clientIsGone = WireError(
        .tryAgainLater,
        "the connection was closed, or the server stops, while the request waited for its turn",
        retryAfter: 1
    )

    /// A body that is not what the endpoint expects; the words before the
    /// culprit's path are CloudKit's (web-services 3.3).
    init(malformed error: JSONError) {
        let path = error.pathText
        self = .badRequest(
            "BadRequestException: \(error.problem)" + (path.isEmpty ? "" : " in \(path)")
        )
    }
}
