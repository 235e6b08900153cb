// SPDX-License-Identifier: Apache-2.0

/// Returns a number with what is counted, as one writes it.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
}
