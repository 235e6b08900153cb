// SPDX-License-Identifier: Apache-2.0

/// Lets an engine over a network ask at once for what will be read one by one.
package protocol ReadingAhead {
    /// Announces what is probably read next, in the same step or snapshot.
    ///
    /// `reads` reads that, and drops it: its reader knows nothing for sure. What a call returns is what was so a
    /// while ago, or nothing, as if the store were empty; and what `reads` throws is ignored. It must change nothing
    /// else. An engine without a network ignores the call, and never runs `reads`.
    func readAhead(_ reads: (any StoreReader) throws -> Void)
}

extension ReadingAhead {
    /// Nothing waits for a network.
    package func readAhead(_ reads: (any StoreReader) throws -> Void) {}
}
