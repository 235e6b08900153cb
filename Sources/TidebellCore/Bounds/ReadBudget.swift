// SPDX-License-Identifier: Apache-2.0

/// How much a read may look at before it counts as a long one.
///
/// What most requests read stays below; what passes it waits for one of few
/// slots, so that long reads cannot hold up look-ups.
package struct ReadBudget: Sendable, Hashable {
    /// Records of which the fields are read.
    package var records: Int
    /// Bytes of these fields, and of the work on them: what is made of them for filters and
    /// for the answer, each time it is made (``ReadWork``).
    package var bytes: Int

    /// Creates a budget.
    package init(records: Int, bytes: Int) {
        self.records = records
        self.bytes = bytes
    }

    /// The smaller of each bound.
    package func bounded(by other: ReadBudget) -> ReadBudget {
        ReadBudget(records: min(records, other.records), bytes: min(bytes, other.bytes))
    }
}

/// What work on a byte costs, where reading it costs 1.
enum ReadWork {
    /// Making it comparable, whatever its case.
    static let folding = 2
    /// Finding the words of a text.
    static let tokens = 8
    /// Comparing it with what a filter asks for.
    static let comparing = 4
    /// Writing fields anew for an answer, which then carries others than are stored.
    static let remaking = 2
    /// Looking at a row whose fields are not read, in bytes.
    static let row = 64
}

/// How long a read is expected to be: whoever gives a store a body states it.
package enum ReadLength: Sendable, Hashable {
    /// A look-up, bounded by what it names.
    case short
    /// A read that may turn out to be long: it ends with ``ReadBudgetPassed`` then.
    case within(ReadBudget)
    /// A read that may take long; it never takes a thread from short ones.
    case long
}

/// A read looked at more than its budget allows; nothing came of it.
package struct ReadBudgetPassed: Error, Hashable {
    /// Creates the error.
    package init() {}
}

/// The bounds of reads that pass their budget.
package struct LongReadBounds: Sendable, Hashable {
    /// At work at a time, for all callers; nil is half of the processors, at least one.
    package var atOnce: Int?
    /// The same for one caller; callers without a user are one. Nil is half of
    /// ``atOnce``, at least one.
    package var atOnceByCaller: Int?
    /// Waiting, for all callers.
    package var waiting = 64
    /// Waiting, for one user.
    package var waitingOfUser = 8
    /// Waiting, for all callers of a container without a user together.
    package var waitingOfAnonymous = 16

    /// Creates the default bounds.
    package init() {}
}
