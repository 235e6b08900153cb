// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// What tests in other languages hold a server by: its time, and errors that requests get
/// (web-services 9). Only a server that was started for them has it.
package final class TestControls: Sendable {
    /// Moves the server's time forward.
    let advance: @Sendable (Duration) -> Void
    private let pending = Mutex<[InjectFaults.Fault]>([])

    /// Creates controls without faults.
    package init(advance: @escaping @Sendable (Duration) -> Void) {
        self.advance = advance
    }

    /// The faults that are to come; each has the requests that are left to it.
    var faults: [InjectFaults.Fault] {
        get { pending.withLock(\.self) }
        set { pending.withLock { $0 = newValue } }
    }

    /// Returns what a request meets, which is one less to come; nil for nothing. Faults are for
    /// development: requests in production meet none.
    func fault(for action: String, in container: ContainerKey) -> InjectFaults.Fault? {
        guard container.environment == .development else { return nil }
        return pending.withLock { pending in
            let found = pending.firstIndex { fault in
                fault.action.map { $0 == action } ?? true
                    && fault.container.map { $0 == container.container } ?? true
            }
            guard let found else { return nil }
            defer {
                pending[found].times -= 1
                if pending[found].times == 0 { pending.remove(at: found) }
            }
            return pending[found]
        }
    }
}
