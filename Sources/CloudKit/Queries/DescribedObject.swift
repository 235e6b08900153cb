// SPDX-License-Identifier: Apache-2.0
import Foundation

// Apple's Foundation puts objects themselves into C lists of arguments.
#if !canImport(ObjectiveC)
    /// The description of an object that is an argument of formats: a text to C formats,
    /// the object itself to predicate formats.
    ///
    /// Foundation on Linux puts a text into every C list of arguments instead of an object;
    /// this one remembers what it stands for.
    final class DescribedObject: NSString {
        /// The object.
        let base: Any
        private let text: NSString

        /// Describes an object.
        init(_ base: Any) {
            self.base = base
            text = NSString(string: "\(base)")
            super.init(characters: [], length: 0)
        }

        /// Required by the superclass; describes the text.
        required convenience init(string: String) { self.init(string) }

        /// Required by the superclass; describes the text.
        required convenience init(stringLiteral value: StaticString) { self.init(value) }

        /// Required by the superclass; describes the text.
        required convenience init(unicodeScalarLiteral value: StaticString) { self.init(value) }

        /// Required by the superclass; describes the text.
        required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
            self.init(value)
        }

        /// Nil: it never is in an archive.
        required convenience init?(coder: NSCoder) { nil }

        /// The length of the description.
        override var length: Int { text.length }

        /// A unit of the description.
        override func character(at index: Int) -> unichar { text.character(at: index) }
    }
#endif
