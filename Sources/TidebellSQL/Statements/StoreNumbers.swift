// SPDX-License-Identifier: Apache-2.0

/// Which numbers a store may hold: all that it counts on from, or adds up, must leave room
/// for that.
package enum StoreNumbers {
    /// What the moments of a record may be: the clocks of servers are wrong by years, not by
    /// millennia.
    package static let moments = -(Int64(1) << 48)...(Int64(1) << 48)
    /// What a record may take with its files.
    package static let recordBytes = 0...(Int64(1) << 40)
}
