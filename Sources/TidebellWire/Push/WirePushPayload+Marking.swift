// SPDX-License-Identifier: Apache-2.0

extension WirePushPayload {
    private static let beginningOfCK = Array(#""ck":{"#.utf8)
    private static let mark = Array(#""p":1,"#.utf8)

    /// Returns an encoded payload with `p` in its `ck`: it is not complete
    /// (PUSH-17, NOTIF-7).
    ///
    /// The bytes are ours, so the key stands as we write it; inside a string every
    /// quotation mark has a backslash before it, so it stands nowhere else.
    package static func markedAsPruned(_ payload: [UInt8]) -> [UInt8] {
        guard let key = payload.firstRange(of: beginningOfCK), !isPruned(payload) else {
            return payload
        }
        var marked = payload
        marked.insert(contentsOf: mark, at: key.upperBound)
        return marked
    }

    private static func isPruned(_ payload: [UInt8]) -> Bool {
        var isPruned = false
        do {
            try JSONReader.read(payload) { reader in
                try reader.readObject { reader, name in
                    guard name == "ck" else { return try reader.skipValue() }
                    try reader.readObject { reader, name in
                        isPruned = isPruned || name == "p"
                        try reader.skipValue()
                    }
                }
            }
        } catch {
            // What is no JSON is left as it is.
            return true
        }
        return isPruned
    }
}
