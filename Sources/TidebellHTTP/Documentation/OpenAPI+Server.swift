// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension OpenAPI {
    /// Endpoints of the server itself, and of files.
    static let server: [Row] = [
        (
            ReportHealth.self,
            EndpointDocumentation(
                summary: "Reports whether the server answers and can read.",
                response: .json(.object([.needed("status", .oneOf(["ok"]))])))
        ),
        (
            ReportReadiness.self,
            EndpointDocumentation(
                summary: "Reports whether the server can write.",
                response: .json(.object([.needed("status", .oneOf(["ready"]))])))
        ),
        (
            ReportVersion.self,
            EndpointDocumentation(
                summary: "Reports the server's version.",
                response: .json(
                    .object([.needed("name", .oneOf(["tidebell"])), .needed("version", .string)])))
        ),
        (
            ReportMetrics.self,
            EndpointDocumentation(
                summary: "The metrics of the server, for Prometheus.",
                response: .bytes(["text/plain"]))
        ),
        (
            ShowWelcome.self,
            EndpointDocumentation(
                summary: "A page about the server.", response: .bytes(["text/html"]))
        ),
        (
            SendScript.self,
            EndpointDocumentation(
                summary: "The client for web pages, a module of JavaScript.",
                response: .bytes(["text/javascript"]), statuses: [304])
        ),
        (
            SendOpenAPI.self,
            EndpointDocumentation(
                summary: "This description.", response: .json(.map(of: .any)), statuses: [304])
        ),
        (
            SendReference.self,
            EndpointDocumentation(
                summary: "The reference for developers of clients.",
                response: .bytes(["text/plain", "text/html"]), statuses: [304])
        ),
        (
            PollCourier.self,
            EndpointDocumentation(
                summary:
                    "Waits for the next push of a token; the answer is empty after 55 seconds.",
                response: .json(
                    .object([.needed("aps", .map(of: .any)), .needed("ck", .map(of: .any))])),
                statuses: [404, 429], arguments: ["capability"])
        ),
        (
            ShowShare.self,
            EndpointDocumentation(
                summary: "The page behind a share's URL.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404, 429],
                arguments: ["shortGUID"])
        ),
        (
            ShowSignIn.self,
            EndpointDocumentation(
                summary: "The page that the redirectURL of a 421 leads to.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404, 409],
                parameters: [
                    ("container", "The app's container."), ("environment", "And its environment."),
                    (WireProtocol.apiToken, "The app."),
                    ("origin", "The origin of the page that opened this one."),
                    ("mode", "'sign-up' for the form of new users."),
                ])
        ),
        (
            FinishSignIn.self,
            EndpointDocumentation(
                summary: "Where an identity provider sends the browser back to.",
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404],
                parameters: [
                    ("state", "What was sent along."), ("code", "What the sign-in is proved by."),
                    ("error", "Why there is none."),
                ])
        ),
        (
            ShowDeviceSignIn.self,
            EndpointDocumentation(
                summary: "The page on which somebody enters the code that a device shows.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [401, 403, 404],
                parameters: [("code", "The code that the device shows.")])
        ),
        (
            ShowAccount.self,
            EndpointDocumentation(
                summary: "The page on which users see and end their sessions.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404])
        ),
        (
            ShowPasswordReset.self,
            EndpointDocumentation(
                summary: "The page behind an operator's link, for a new password.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [401, 403, 404, 429],
                arguments: ["secret"])
        ),
        (
            ReceiveAsset.self,
            EndpointDocumentation(
                summary: "Takes the bytes of a file.",
                request: .bytes(["application/octet-stream"]),
                response: .json(.object([.needed("singleFile", .named("Asset"))])),
                statuses: [401, 403, 404, 409, 413, 421, 429], arguments: ["token"])
        ),
        (
            SendAsset.self,
            EndpointDocumentation(
                summary: "Returns the bytes of a file, or a part of it.",
                response: .bytes(["application/octet-stream"]),
                statuses: [206, 304, 403, 404, 412, 416, 429], arguments: ["token", "fileName"])
        ),
    ]
}
