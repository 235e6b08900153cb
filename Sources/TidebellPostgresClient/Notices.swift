// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres

/// Takes the server's notices and warnings, which libpq would print. None is kept.
final class Notices {
    /// Whether there was a warning such as the one of a commit that stopped waiting for the
    /// synchronous standby: "canceling wait for synchronous replication due to user request",
    /// whose SQLSTATE (01000) only says that it is a warning, and whose text is translated. Its
    /// sibling of a server that shuts down has 57P01.
    var hasDoubtfulWarning = false

    /// Receives the notices of a connection, which does not outlive this.
    func receive(from connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                let notices = Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
                notices.note(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func note(_ result: OpaquePointer) {
        func field(_ code: UInt8) -> String? {
            PQresultErrorField(result, Int32(code)).map { String(cString: $0) }
        }
        guard field(UInt8(ascii: "V")) == "WARNING" else { return }
        let code = field(UInt8(ascii: "C"))
        if code == "01000" || code == "57P01" { hasDoubtfulWarning = true }
    }
}
