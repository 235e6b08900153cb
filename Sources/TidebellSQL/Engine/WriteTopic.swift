// SPDX-License-Identifier: Apache-2.0

/// What a write is about, as far as it is known before it runs: writes of one topic are done one after the other, and
/// those of others meanwhile.
package enum WriteTopic: Sendable, Hashable {
    /// Nobody said.
    case unknown
    /// A scope, by a number that stands for it.
    case scope(Int64)
    /// All of the store: the engine lets nothing else run meanwhile.
    case everything
}
