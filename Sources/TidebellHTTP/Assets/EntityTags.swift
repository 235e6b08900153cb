// SPDX-License-Identifier: Apache-2.0

/// The entity tags of a conditional request (RFC 9110, 13.1): a list, or `*` for any.
struct EntityTags {
    private let tags: [Substring]

    /// Reads `If-Match` or `If-None-Match`. The tags of this server have no commas.
    init(_ header: String) {
        tags = header.split(separator: ",").map { tag in
            let start = tag.drop { $0 == " " || $0 == "\t" }
            return start.prefix { $0 != " " && $0 != "\t" }
        }
    }

    /// Whether a tag is among them; a weak tag is never the tag of a file.
    func contains(_ tag: String) -> Bool {
        tags.contains { $0 == "*" || $0 == tag }
    }

    /// Whether a tag is among them, marked as weak or not.
    func containsWeakly(_ tag: String) -> Bool {
        contains(tag) || tags.contains { $0.hasPrefix("W/") && $0.dropFirst(2) == tag }
    }
}
