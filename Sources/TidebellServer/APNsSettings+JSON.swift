// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellAPNs
import TidebellWire

extension APNsSettings {
    /// Reads the section; paths in it are relative to `folder`.
    init(from reader: inout JSONReader, folder: URL) throws {
        self.init()
        try reader.readObject { reader, name in
            if try key.read(name, from: &reader, folder: folder) { return }
            switch name {
            case "containers":
                containers = try reader.readList { try Container(from: &$0, folder: folder) }
            case "port": port = try Self.readPort(from: &reader)
            case "gateway": gateway = try Self.checkedGateway(try reader.readString())
            case "trustRoots":
                trustRoots = URL(filePath: try reader.readString(), relativeTo: folder)
            default: throw JSONError("unknown member; known are \(Self.members)")
            }
        }
    }

    private static let members = "keyFile, keyID, teamID, containers, port, gateway, trustRoots"

    /// Checks a gateway's URL: scheme, host and port only.
    package static func checkedGateway(_ text: String) throws -> String {
        guard let url = URL(string: text), url.scheme == "https", url.host != nil,
            url.path.isEmpty || url.path == "/"
        else { throw JSONError("'\(text)' must be https://HOST:PORT") }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private static func readPort(from reader: inout JSONReader) throws -> Int {
        let text = String(decoding: try reader.readRaw(), as: UTF8.self)
        guard let port = Int(text), APNsGateway.applePorts.contains(port) else {
            throw JSONError("Apple's hosts listen on 443 and 2197, not on \(text)")
        }
        return port
    }
}

extension APNsSettings.Key {
    /// Reads a member if it is one of a key's; returns whether it was.
    fileprivate mutating func read(
        _ name: MemberName, from reader: inout JSONReader, folder: URL
    ) throws -> Bool {
        switch name {
        case "keyFile": file = URL(filePath: try reader.readString(), relativeTo: folder)
        case "keyID": keyID = try reader.readString()
        case "teamID": teamID = try reader.readString()
        default: return false
        }
        return true
    }
}

extension APNsSettings.Container {
    fileprivate init(from reader: inout JSONReader, folder: URL) throws {
        self.init(container: "", topic: "")
        try reader.readObject { reader, name in
            if try key.read(name, from: &reader, folder: folder) { return }
            switch name {
            case "container": container = try reader.readString()
            case "topic": topic = try reader.readString()
            default:
                throw JSONError(
                    "unknown member; known are container, topic, keyFile, keyID, teamID")
            }
        }
        guard !container.isEmpty else { throw JSONError("missing required member 'container'") }
        guard !topic.isEmpty else { throw JSONError("missing required member 'topic'") }
    }
}
