// SPDX-License-Identifier: Apache-2.0

/// What `tidebell --version` prints and `/version` answers.
package enum Version {
    /// The version of this build; CHANGELOG.md lists what is in it.
    package static let text = "0.1.0"
}
