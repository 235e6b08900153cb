// SPDX-License-Identifier: Apache-2.0

extension UploadAssets.Request {
    /// Reads a request.
    package init(from reader: inout JSONReader) throws {
        let (zoneID, tokens) = try reader.readZoneItems("tokens") {
            try UploadAssets.Field(from: &$0)
        }
        self.init(zoneID: zoneID, tokens: tokens)
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zoneID")
            zoneID.write(to: &writer)
            writer.key("tokens")
            writer.array(tokens) { writer, field in
                writer.object { writer in
                    writer.member("recordName", field.recordName)
                    writer.member("recordType", field.recordType)
                    writer.member("fieldName", field.fieldName)
                }
            }
        }
    }
}

extension UploadAssets.Field {
    fileprivate init(from reader: inout JSONReader) throws {
        var recordName: String?
        var recordType: String?
        var fieldName: String?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordName": recordName = try reader.readName()
            case "recordType": recordType = try reader.readName()
            case "fieldName": fieldName = try reader.readName()
            default: try reader.skipValue()
            }
        }
        guard let recordType else { throw JSONError("missing required field 'recordType'") }
        guard let fieldName else { throw JSONError("missing required field 'fieldName'") }
        self.init(recordName: recordName, recordType: recordType, fieldName: fieldName)
    }
}

extension UploadAssets.Response {
    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(
            tokens: try reader.readMemberList("tokens") { try UploadAssets.Token(from: &$0) }
        )
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("tokens")
            writer.array(tokens) { writer, token in
                writer.object { writer in
                    writer.member("recordName", token.recordName)
                    writer.member("fieldName", token.fieldName)
                    writer.member("url", token.url)
                }
            }
        }
    }
}

extension UploadAssets.Token {
    fileprivate init(from reader: inout JSONReader) throws {
        self.init(recordName: "", fieldName: "", url: "")
        try reader.readObject { reader, name in
            switch name {
            case "recordName": recordName = try reader.readName()
            case "fieldName": fieldName = try reader.readName()
            case "url": url = try reader.readString()
            default: try reader.skipValue()
            }
        }
        guard !url.isEmpty else { throw JSONError("missing required field 'url'") }
    }
}

extension UploadAssets.Receipt {
    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        var asset: WireAsset?
        try reader.readObject { reader, name in
            if name == "singleFile" {
                asset = try WireAsset(from: &reader)
            } else {
                try reader.skipValue()
            }
        }
        guard let asset else { throw JSONError("missing required field 'singleFile'") }
        self.init(singleFile: asset)
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("singleFile")
            singleFile.write(to: &writer)
        }
    }
}
