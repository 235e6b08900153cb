// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellScheduling

/// Names for what the app, or this device, gives none: records, operations, subscriptions,
/// files.
///
/// They are the machine's chance, whatever a test hands in: Apple's initializers, which make
/// them, take no source of chance. No rule depends on what they are.
package enum NewIdentifier {
    /// Returns a UUID that nothing has yet, in upper case, as Apple writes them.
    package static func make() -> String { uuid().uuidString }

    /// Returns a UUID that nothing has yet.
    package static func uuid() -> UUID { Randomness.system.makeUUID() }
}
