// SPDX-License-Identifier: Apache-2.0
@testable import CloudKit

/// What a server did to a record, without one.
extension CKRecord {
    /// Creates a record that a server returned, without changes.
    convenience init(
        fetched identity: Identity,
        server: ServerState,
        fields: [Field],
        parent: CKReference? = nil,
        share: CKReference? = nil
    ) {
        var state = State(server: server, parent: parent, share: share)
        state.replaceValues(fields)
        self.init(identity, state: state)
    }

    /// Takes over what the server set in a save (SAVE-29).
    func applyServerState(_ server: ServerState) {
        state.withLock { $0.server = server }
    }

    /// Replaces the reference to the parent by what the server holds; it does not count
    /// as changed.
    func replaceParent(_ parent: CKReference?) {
        state.withLock { state in
            state.parent = parent
            state.isParentChanged = false
        }
    }

    /// Forgets which fields changed, after all of them were saved (SAVE-29).
    func markSaved() {
        state.withLock { state in
            state.plain = Fields(values: state.plain.values)
            state.encrypted = Fields(values: state.encrypted.values)
            state.isParentChanged = false
        }
    }
}
