// SPDX-License-Identifier: Apache-2.0

extension WireAsset {
    /// Reads an asset dictionary (web-services 4.4).
    package init(from reader: inout JSONReader) throws {
        self.init(fileChecksum: "", size: 0)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            if try !readMember(name, from: &reader) { try reader.skipValue() }
        }
        guard !fileChecksum.isEmpty else {
            throw JSONError("missing required field 'fileChecksum'")
        }
    }

    /// The largest size that is believed, in bytes: no disk is as large, and sums of many
    /// are still numbers.
    private static let maximumSize: Int64 = 1 << 48

    /// Reads a member if it is one of an asset's; returns whether it was.
    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "fileChecksum": fileChecksum = try reader.readName()
        case "size":
            size = try reader.readInt64()
            guard (0...Self.maximumSize).contains(size) else {
                throw JSONError("the size of an asset must be 0 to \(Self.maximumSize)")
            }
        case "receipt": receipt = try reader.readString()
        case "downloadURL": downloadURL = try reader.readString()
        case "wrappingKey": wrappingKey = try reader.readString()
        case "referenceChecksum": referenceChecksum = try reader.readString()
        case "content": content = try reader.readString()
        default: return false
        }
        return true
    }

    /// Writes the dictionary.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("fileChecksum", fileChecksum)
            writer.member("size", size)
            writer.member("wrappingKey", wrappingKey)
            writer.member("referenceChecksum", referenceChecksum)
            writer.member("receipt", receipt)
            writer.member("downloadURL", downloadURL)
            writer.member("content", content)
        }
    }
}
