// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellWire

/// The description of the API in OpenAPI 3.1: paths, methods and who may call them are those of the
/// routes that router and client use; what bodies look like is written beside them.
enum OpenAPI {
    private static let about = """
        CloudKit Web Services, and extensions under /ext. Bodies are read as JSON whatever their content type; \
        unknown members are ignored, and null is as good as nothing. An error has the status of its code; one \
        that is about an item stands in the item's place.
        """

    /// The document.
    static let document = JSONWriter.write(capacity: 128 * 1024) { writer in
        writer.object { writer in
            writer.member("openapi", "3.1.0")
            writer.key("info")
            writer.object { writer in
                writer.member("title", "Tidebell")
                writer.member("version", Version.text)
                writer.member("description", Self.about)
                writer.key("license")
                writer.object {
                    $0.member("name", "Apache 2.0")
                    $0.member("identifier", "Apache-2.0")
                }
            }
            writer.key("servers")
            writer.array(["./"]) { writer, url in writer.object { $0.member("url", url) } }
            writer.key("paths")
            writer.object(writePaths)
            writer.key("components")
            writer.object(writeComponents)
        }
    }

    private static func writePaths(to writer: inout JSONWriter) {
        for endpoint in WireProtocol.endpoints {
            guard let documentation = documentation[ObjectIdentifier(endpoint)] else { continue }
            for path in endpoint.route.paths {
                writer.key(text(of: path, with: documentation.arguments))
                writer.object { writer in
                    for method in endpoint.route.methods {
                        writer.key(method.rawValue.lowercased())
                        writer.object {
                            write(endpoint, documentation, at: path, by: method, to: &$0)
                        }
                    }
                }
            }
        }
    }

    /// The path with names in place of what requests put there.
    static func text(of path: WirePath, with arguments: [String]) -> String {
        switch path.root {
        case .database:
            path.text(in: "{container}", "{environment}", path.onlyScope).replacing(
                "{environment}/\(path.action)", with: "{environment}/{database}/\(path.action)")
        case .device, .ext, .admin: path.text(in: "{container}", "{environment}")
        case .assets, .server, .control:
            arguments.isEmpty
                ? path.root.prefix + path.action
                : path.stem + arguments.map { "{\($0)}" }.joined(separator: "/")
        }
    }

    private static func write(
        _ endpoint: any WireEndpoint.Type, _ documentation: EndpointDocumentation,
        at path: WirePath,
        by method: WireMethod, to writer: inout JSONWriter
    ) {
        let route = endpoint.route
        let suffix = path == route.path ? "" : "-\(path.root.rawValue)-\(path.action)"
        writer.member("operationId", "\(endpoint)-\(method.rawValue.lowercased())\(suffix)")
        writer.member("summary", documentation.summary)
        writer.key("tags")
        writer.array([path.root.tag]) { $0.string($1) }
        writer.key("security")
        writer.array(route.security(in: path)) { writer, names in
            writer.object { writer in
                for name in names {
                    writer.key(name)
                    writer.array([String]()) { $0.string($1) }
                }
            }
        }
        writeParameters(of: documentation, at: path, to: &writer)
        if method == .post || method == .put {
            write(request: documentation.request, to: &writer)
        }
        writer.key("responses")
        writer.object { writer in
            writer.key("200")
            write(response: documentation.response, isHead: method == .head, to: &writer)
            let statuses = Set(route.access.statuses + documentation.statuses)
            for status in statuses.sorted() {
                writer.key(String(status))
                writeOther(status, isPage: path.isPage, isHead: method == .head, to: &writer)
            }
        }
    }

    private static func writeParameters(
        of documentation: EndpointDocumentation, at path: WirePath, to writer: inout JSONWriter
    ) {
        var parameters: [(place: String, name: String, schema: JSONSchema)] = []
        if path.isInContainer {
            parameters += [
                ("path", "container", .string),
                ("path", "environment", .oneOf(["development", "production"])),
            ]
            if path.root == .database, path.onlyScope == nil {
                parameters.append(("path", "database", .oneOf(["public", "private", "shared"])))
            }
            if path.root != .admin { parameters.append(("query", WireProtocol.clientID, .string)) }
        }
        parameters += documentation.arguments.map { ("path", $0, .string) }
        parameters += documentation.parameters.map { ("query", $0.name, .string) }
        guard !parameters.isEmpty else { return }
        writer.key("parameters")
        writer.array(parameters) { writer, parameter in
            writer.object { writer in
                writer.member("name", parameter.name)
                writer.member("in", parameter.place)
                if parameter.place == "path" { writer.member("required", true) }
                let text = documentation.parameters.first { $0.name == parameter.name }?.text
                writer.member(
                    "description",
                    parameter.name == WireProtocol.clientID
                        ? "The device: what it changes is not pushed to it." : text)
                writer.key("schema")
                parameter.schema.write(to: &writer)
            }
        }
    }

    private static func write(
        request: EndpointDocumentation.Body, to writer: inout JSONWriter
    ) {
        guard let content = request.content else { return }
        writer.key("requestBody")
        writer.object { writer in
            writer.key("content")
            write(content, to: &writer)
        }
    }

    private static func write(
        response: EndpointDocumentation.Body, isHead: Bool, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("description", "It was done.")
            guard !isHead, let content = response.content else { return }
            writer.key("content")
            write(content, to: &writer)
        }
    }

    private static func write(
        _ content: [(type: String, schema: JSONSchema)], to writer: inout JSONWriter
    ) {
        writer.object { writer in
            for (type, schema) in content {
                writer.key(type)
                writer.object { writer in
                    writer.key("schema")
                    schema.write(to: &writer)
                }
            }
        }
    }

    private static func writeOther(
        _ status: Int, isPage: Bool, isHead: Bool, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("description", text(of: status))
            guard !isHead, ![206, 303, 304, 412, 416].contains(status) else { return }
            writer.key("content")
            // A path that cannot be read leads to no page.
            let page = isPage ? EndpointDocumentation.Body.bytes(["text/html"]).content ?? [] : []
            let error = EndpointDocumentation.Body.json(.named("Error")).content ?? []
            write(page + error, to: &writer)
        }
    }

    private static func text(of status: Int) -> String {
        switch status {
        case 206: return "A part of it, as asked for."
        case 303: return "It was done; the page shows it."
        case 304: return "The client has it already."
        case 413:
            return "QUOTA_EXCEEDED; BAD_REQUEST where the body, or what it expands to, is too long."
        case 415: return "BAD_REQUEST: the body has a Content-Encoding that is not read."
        case 416: return "The file has no such part."
        case 503: return "Not at the moment: TRY_AGAIN_LATER."
        default:
            let codes = ServerErrorCode.allCases.filter { $0.status == status }.map(\.rawValue)
            return codes.joined(separator: " or ")
        }
    }

    /// What a program shows of a server-to-server key.
    fileprivate static let signature: [(name: String, field: HTTPField.Name, text: String)] = [
        ("keyID", .requestKeyID, "Which server-to-server key signed the request."),
        ("signedDate", .requestDate, "When, as 2026-01-31T23:59:59Z."),
        (
            "signature", .requestSignature,
            "ECDSA with SHA-256, DER in base64, of the date, the SHA-256 of the body in base64 and the path, "
                + "with a colon between each two."
        ),
    ]

    private static func writeComponents(to writer: inout JSONWriter) {
        writer.key("schemas")
        writer.object { writer in
            for (name, schema) in JSONSchema.common {
                writer.key(name)
                schema.write(to: &writer)
            }
        }
        writer.key("securitySchemes")
        writer.object { writer in
            for (name, text) in [
                (WireProtocol.apiToken, "Which app it is: of a container, or of all."),
                (WireProtocol.webAuthToken, "Who is signed in."),
            ] {
                writer.key(name)
                writer.object {
                    $0.member("type", "apiKey")
                    $0.member("in", "query")
                    $0.member("name", name)
                    $0.member("description", text)
                }
            }
            for (name, field, text) in signature {
                writer.key(name)
                writer.object {
                    $0.member("type", "apiKey")
                    $0.member("in", "header")
                    $0.member("name", field.rawName)
                    $0.member("description", text)
                }
            }
            writer.key("management")
            writer.object {
                $0.member("type", "http")
                $0.member("scheme", "bearer")
            }
        }
    }
}

extension EndpointDocumentation.Body {
    /// The schemas, by content type.
    fileprivate var content: [(type: String, schema: JSONSchema)]? {
        switch self {
        case .none: nil
        case .json(let schema): [("application/json", schema)]
        case .bytes(let types): types.map { ($0, .any) }
        }
    }
}

extension WirePath {
    /// Whether it is a page for people.
    fileprivate var isPage: Bool {
        // The welcome page, which everybody gets alike, is none that knows who comes.
        root == .server && action.isEmpty || Router.pages.contains { $0.route.path == self }
    }

    fileprivate var isInContainer: Bool { ![.server, .assets, .control].contains(root) }
}

extension WirePath.Root {
    fileprivate var tag: String { self == .server ? "server" : rawValue }
}

extension WireRoute {
    /// What a call shows, each list one way.
    fileprivate func security(in path: WirePath) -> [[String]] {
        let tokens = access.security(in: path)
        let isOpen = access == .reader || access == .user
        guard isOpen, serverKeys == .granted else { return tokens }
        return tokens + [OpenAPI.signature.map(\.name)]
    }
}

extension WireAccess {
    /// The tokens of a call, each list one way.
    fileprivate func security(in path: WirePath) -> [[String]] {
        let app = [WireProtocol.apiToken]
        let user = [WireProtocol.apiToken, WireProtocol.webAuthToken]
        return switch self {
        case .reader: path.onlyScope == .public ? [app, user] : [user, app]
        case .anyone: [app, user]
        case .user: [user]
        case .admin: [["management"]]
        case .url, .open: [[]]
        }
    }

    /// The statuses of errors that every call of the kind may have.
    fileprivate var statuses: [Int] {
        switch self {
        case .reader, .user, .anyone: [400, 401, 403, 404, 413, 415, 421, 429, 503]
        case .admin: [400, 401, 404, 413, 415, 429, 503]
        case .url: [400, 413, 415, 503]
        case .open: [400, 413, 415, 429, 503]
        }
    }
}
