// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What `tidebell limits` prints: name, default, what may be set, and the meaning of each limit.
package enum LimitList {
    /// The list.
    package static var text: String {
        let standard = ServerConfiguration(dataFolder: URL(fileURLWithPath: "/"))
        let longest = SettableLimit.all.map(\.name.count).max() ?? 0
        let sections = SettableLimit.sections.map { section in
            let limits = section.limits.map { limit in
                let name = limit.name.padding(toLength: longest, withPad: " ", startingAt: 0)
                return """
                      \(name)  \(limit.text(limit.value(in: standard))) (\(limit.rangeText))
                          \(limit.meaning)
                    """
            }
            return "\(section.title)\n\n" + limits.joined(separator: "\n")
        }
        return """
            Each line has the name of a limit, its default, and what it may be set to by \
            `tidebell serve --limit NAME=VALUE`. Sizes may have K, M or G, times s, m, h or d.

            \(sections.joined(separator: "\n\n"))
            """
    }
}

extension SettableLimit {
    fileprivate var rangeText: String {
        let bounds =
            range.upperBound == .max
            ? "\(unit.text(range.lowerBound)) or more"
            : "\(unit.text(range.lowerBound)) to \(unit.text(range.upperBound))"
        return bounds + (absentWord.map { ", or \($0)" } ?? "")
    }
}
