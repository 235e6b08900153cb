// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Names for what the app, or this device, gives none: records, operations, subscriptions,
/// files.
///
/// They are the machine's chance, whatever a test hands in: Apple's initializers, which make
/// them, take no source of chance. No rule depends on what they are.
enum NewIdentifier {
    /// Returns a UUID that nothing has yet, in upper case, as Apple writes them.
    static func make() -> String { uuid().uuidString }

    /// Returns a UUID that nothing has yet.
    static func uuid() -> UUID { Randomness.system.makeUUID() }
}
