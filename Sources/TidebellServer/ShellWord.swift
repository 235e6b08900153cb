// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text as one word of a command line of the shell: quoted where a shell would take
    /// any of it for something else.
    package var asShellWord: String {
        let isPlain =
            !isEmpty
            && allSatisfy { $0.isLetter || $0.isNumber || "/._-+@:,%".contains($0) }
        if isPlain { return self }
        // By scalars: a quote that something combines with is a quote to the shell.
        let quoted = unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }
        return "'\(quoted.joined())'"
    }
}
