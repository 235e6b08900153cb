// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import TidebellScheduling

/// Carries requests from connections to ``WebServices`` and answers back; one for all connections,
/// since a copy of all that answers requests would be 2 KiB of each.
final class SocketResponder: Sendable {
    let webServices: WebServices
    /// Whether connections are encrypted here.
    let isSecure: Bool
    private let dates = DateHeader()

    init(webServices: WebServices, isSecure: Bool = false) {
        self.webServices = webServices
        self.isSecure = isSecure
    }

    /// Answers a request, in a task of its own.
    func answer(
        _ head: HTTPRequest, _ body: SocketBody, of connection: Connection, on path: AnswerPath
    ) async {
        let headers = head.fields
        let limits = webServices.cloud.shares.limits
        let answer = await webServices.respond(
            to: WebRequest(
                head.method,
                head.path ?? "/",
                headers: headers,
                body: .pending(body),
                from: limits.counted(connection.peer, headers),
                presence: connection.presence,
                needsHost: true,
                isSecure: isSecure || limits.trustedProxies.speaksTLS(connection.peer, headers)
            )
        )
        let date = dates.text(at: webServices.cloud.time.now())
        // The answer to HEAD is the head alone: a body would be taken for the
        // next answer.
        guard head.method != .head else {
            return path.send(answer.head(at: date, hasBody: false), ByteBuffer(), counted: nil)
        }
        switch answer.body {
        case .bytes(let bytes):
            path.send(answer.head(at: date), ByteBuffer(bytes: bytes), counted: answer.share)
        case .feed(let feed): path.send(answer.head(at: date), feed)
        case .stream(let produce):
            await path.send(answer.head(at: date), isEndless: true, produce)
        case .file(_, let produce):
            await path.send(answer.head(at: date), isEndless: false, produce)
        }
    }
}

extension HTTPRequest {
    /// The header fields as HTTP/1.1 has them: with the host among them, also a second one.
    fileprivate var fields: HTTPFields {
        guard let authority else { return headerFields }
        var fields = headerFields
        fields.append(HTTPField(name: .hostField, value: authority))
        return fields
    }
}

extension WebResponse {
    /// The head with the length of the body, where that is known before it is sent.
    fileprivate func head(at date: String, hasBody: Bool = true) -> HTTPResponse {
        var fields = headers
        let length: Int? =
            switch body {
            case .bytes(let bytes): bytes.count
            case .file(let length, _): Int(length)
            case .stream, .feed: hasBody ? nil : 0
            }
        if let length, !fields.contains(.contentLength) { fields[.contentLength] = "\(length)" }
        fields[.date] = date
        return HTTPResponse(status: .init(code: status), headerFields: fields)
    }
}
